import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { inTransaction, type Db } from "../database/db.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";
import {
  lockEngineSettings,
  readEngineSettings,
  storeEngineSettings,
  type EngineChanges,
  type StoredEngine,
} from "./engine-settings.ts";

const llm: StoredEngine = {
  baseUrl: "http://127.0.0.1:11434/v1",
  apiKey: "sk-very-secret",
  model: "llama3",
  voice: null,
};
const tts: StoredEngine = { ...llm, apiKey: null, model: "kokoro", voice: "af_heart" };

describeOnBothDatabases("settings of engines", (current) => {
  let db: Db;
  beforeEach(async () => {
    ({ db } = current());
    await sql`delete from deployment_engines`.execute(db.query);
  });
  const store = (changes: EngineChanges) => inTransaction(db, (tx) => storeEngineSettings(tx, changes));

  it("are stored, replaced, kept where absent, and removed by null", async () => {
    expect(await readEngineSettings(db)).toEqual({});
    await store({ llm, tts });
    expect(await readEngineSettings(db)).toEqual({ llm, tts });
    await store({ llm: { ...llm, model: "qwen3" } });
    expect(await readEngineSettings(db)).toEqual({ llm: { ...llm, model: "qwen3" }, tts });
    await store({ tts: null, stt: null });
    expect(await readEngineSettings(db)).toEqual({ llm: { ...llm, model: "qwen3" } });
  });

  it("are sealed, each for its engine", async () => {
    await store({ llm });
    const read = await sql<{ sealed: string }>`
      select sealed_settings as sealed from deployment_engines`.execute(db.query);
    expect(JSON.stringify(read.rows)).not.toMatch(/very-secret|11434|llama3/);
    await sql`update deployment_engines set engine = 'stt'`.execute(db.query);
    await expect(readEngineSettings(db)).rejects.toThrow(/changed or moved/);
  });

  it("are changed one after the other", async () => {
    const add = (name: string) =>
      inTransaction(db, async (tx) => {
        const { llm: before } = await lockEngineSettings(tx);
        await storeEngineSettings(tx, { llm: { ...llm, model: `${before?.model ?? ""}${name}` } });
      });
    await Promise.all(["a", "b", "c"].map(add));
    const { llm: after } = await readEngineSettings(db);
    expect((after?.model ?? "").split("").toSorted()).toEqual(["a", "b", "c"]);
  });
});
