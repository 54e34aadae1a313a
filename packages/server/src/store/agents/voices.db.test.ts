import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { listCalls } from "../calls/call-list.ts";
import { setTtsKeys } from "../accounts/tts-keys.ts";
import { changeVoice, createVoice, deleteVoice, findVoices, getVoice, type NewVoice } from "./voices.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";

const voice: NewVoice = {
  name: "Ada",
  description: null,
  primaryLanguage: null,
  definition: { generic: { url: "https://a.example/", headers: { Authorization: "Bearer sealed-value" } } },
};

describeOnBothDatabases("voices", (current) => {
  let accountId = "";
  beforeEach(async () => {
    accountId = await newAccount(current().db);
  });

  it("keep secrets sealed, also those of provider keys", async () => {
    const { db } = current();
    const { voiceId } = await createVoice(db, accountId, voice);
    await setTtsKeys(db, accountId, { provider1: { key: "provider-secret", prefix: "prov" } });
    const rows = await sql`select * from voices where id = ${voiceId}`.execute(db.query);
    const keys = await sql`select * from tts_api_keys where account_id = ${accountId}`.execute(db.query);
    expect([rows.rows.length, keys.rows.length]).toEqual([1, 1]);
    expect(JSON.stringify([rows.rows, keys.rows])).not.toMatch(/sealed-value|provider-secret/);
  });

  it("keep what a change leaves out, and the secrets behind masks", async () => {
    const { db } = current();
    const { voiceId } = await createVoice(db, accountId, voice);
    const masked = { generic: { url: "https://a.example/say", headers: { Authorization: "Bear…" } } };
    const changed = await changeVoice(db, accountId, voiceId, { definition: masked, description: "New" });
    expect(changed).toEqual({
      voiceId,
      name: "Ada",
      description: "New",
      primaryLanguage: null,
      kind: "generic",
      definition: masked,
    });
    // The mask still stands for the first value: a longer beginning of that value would not match.
    const again = await changeVoice(db, accountId, voiceId, { name: "Bea" });
    expect(again).toEqual({ ...changed, name: "Bea" });
    expect(await getVoice(db, accountId, voiceId)).toEqual(again);
    const other = await newAccount(db);
    expect(await changeVoice(db, other, voiceId, { name: "Eve" })).toBeNull();
    expect(await deleteVoice(db, other, voiceId)).toBe(false);
    expect(await deleteVoice(db, accountId, voiceId)).toBe(true);
    expect(await deleteVoice(db, accountId, voiceId)).toBe(false);
  });

  it("are found by id or whole name within their account", async () => {
    const { db } = current();
    const first = await createVoice(db, accountId, voice);
    const second = await createVoice(db, accountId, { ...voice, definition: { provider2: {} } });
    await createVoice(db, accountId, { ...voice, name: "ada" });
    await createVoice(db, await newAccount(db), voice);
    const known = { voiceId: first.voiceId, name: "Ada", kind: "generic", definition: voice.definition };
    expect(await findVoices(db, accountId, { id: first.voiceId, name: first.voiceId })).toEqual([known]);
    expect(await findVoices(db, accountId, { id: null, name: "Ada" })).toEqual([
      known,
      { voiceId: second.voiceId, name: "Ada", kind: "provider2", definition: { provider2: {} } },
    ]);
    expect(await findVoices(db, accountId, { id: null, name: "Eve" })).toEqual([]);
  });

  it("comes first by its id, however many have a name like it", async () => {
    const { db } = current();
    const { voiceId } = await createVoice(db, accountId, { ...voice, name: "meant" });
    for (let i = 0; i < 4; i += 1) await createVoice(db, accountId, { ...voice, name: voiceId });
    const found = await findVoices(db, accountId, { id: voiceId, name: voiceId });
    expect(found[0]).toEqual({ voiceId, name: "meant", kind: "generic", definition: voice.definition });
  });

  it("list their calls from an index that has them in order", async () => {
    const { db } = current();
    const voiceId = randomUUID();
    await sql`
      insert into calls (id, account_id, node_id, created_at, join_deadline_at, medium_kind, settings, sealed_plan,
        metadata, search_text, voice_id)
      select gen_random_uuid(), ${accountId}::uuid, 'node', now() - n * interval '1 second', now(), 'webRtc', '{}',
        '', '{}', '', case when n % 10 = 0 then ${voiceId}::uuid end
      from generate_series(1, 2000) as n`.execute(db.query);
    await sql`analyze calls`.execute(db.query);
    const plan = await sql<{ "QUERY PLAN": string }>`
      explain select id from calls where account_id = ${accountId} and voice_id = ${voiceId}
      order by created_at desc, id desc limit 20`.execute(db.query);
    const text = plan.rows.map((row) => row["QUERY PLAN"]).join("\n");
    expect(text).toContain("calls_by_voice");
    expect(text).not.toContain("Sort");
    const page = await listCalls(
      db,
      accountId,
      { voiceId },
      { after: null, direction: "forward", limit: 20 },
    );
    expect([page.total, page.rows.length]).toEqual([200, 20]);
    const created = page.rows.map(({ createdAt }) => createdAt);
    expect(created).toEqual(created.toSorted().toReversed());
  });
});
