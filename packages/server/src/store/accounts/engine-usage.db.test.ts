import type { CallEngineSums, CallUseRecord } from "@parley/schema";
import { expect, it } from "vitest";
import { endCall, getCall, insertCall } from "../calls/calls.ts";
import { deleteCall } from "../calls/deleted-calls.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { readEngineUsage } from "./engine-usage.ts";

const CREATED_MS = Date.parse("2026-04-01T23:59:00.000Z");
const DAY_MS = 86_400_000;

const engine = (changes: Partial<CallEngineSums> = {}): CallEngineSums => ({
  kind: "llm",
  engine: "smart",
  provider: "openai",
  model: "gpt",
  requests: 3,
  failures: 1,
  dropped: 1,
  latencies: 2,
  latencySumMs: 900,
  latencyMaxMs: 600,
  latencyMedianMs: 300,
  inputTokens: 1_000,
  cachedInputTokens: 400,
  outputTokens: 50,
  uncounted: 1,
  heardMs: 0,
  characters: 0,
  spokenMs: 0,
  // Beyond 32 bits.
  costNanos: 5_000_000_000,
  unpriced: 1,
  ...changes,
});

const VOICE = engine({ kind: "tts", engine: "mouth", model: null, characters: 80, spokenMs: 4_000 });

describeOnBothDatabases("what calls use of engines", (current) => {
  async function ended(accountId: string, createdAtMs: number, use: CallUseRecord | null): Promise<string> {
    const { db } = current();
    const call = newCall({ createdAtMs });
    await insertCall(db, accountId, call);
    await endCall(db, accountId, call.callId, { endReason: "hangup", endedAtMs: createdAtMs + 90_000, use });
    return call.callId;
  }

  it("is stored with the call, and stays as it was at its first end", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const use = { currency: "EUR", engines: [VOICE, engine()] };
    const callId = await ended(accountId, CREATED_MS, use);
    expect((await getCall(db, accountId, callId))?.engineUse).toEqual(use);
    const again = {
      endReason: "hangup",
      endedAtMs: CREATED_MS,
      use: { currency: null, engines: [] },
    } as const;
    expect(await endCall(db, accountId, callId, again)).toBe("ended_before");
    expect((await getCall(db, accountId, callId))?.engineUse).toEqual(use);
    const span = { fromDay: "2026-04-01", toDay: "2026-04-01" };
    const { latencyMedianMs: _, ...sums } = engine();
    expect(await readEngineUsage(db, accountId, span, 10)).toMatchObject([
      { ...sums, currency: "EUR" },
      { engine: "mouth", model: null, characters: 80 },
    ]);
    const none = await ended(accountId, CREATED_MS, null);
    expect((await getCall(db, accountId, none))?.engineUse).toBeNull();
  });

  it("is summed by the day of creation, engine and currency, with deleted calls", async () => {
    const { db } = current();
    const [accountId, stranger] = [await newAccount(db), await newAccount(db)];
    const use = { currency: "USD", engines: [engine(), VOICE] };
    await ended(accountId, CREATED_MS, use);
    const second = { ...use, engines: [engine({ latencyMaxMs: 700, requests: 1 })] };
    const deleted = await ended(accountId, CREATED_MS + 60_000, second);
    await ended(accountId, CREATED_MS + DAY_MS, { currency: null, engines: [engine()] });
    await ended(stranger, CREATED_MS, use);
    expect(await deleteCall(db, accountId, deleted)).toBe("deleted");
    const read = (fromDay: string, toDay: string) =>
      readEngineUsage(db, accountId, { fromDay, toDay }, 10).then((rows) =>
        rows.map(({ kind, currency, requests, costNanos, latencyMaxMs }) => [
          kind,
          currency,
          requests,
          costNanos,
          latencyMaxMs,
        ]),
      );
    expect(await read("2026-04-01", "2026-04-01")).toEqual([
      ["llm", "USD", 3, 5_000_000_000, 600],
      ["tts", "USD", 3, 5_000_000_000, 600],
    ]);
    expect(await read("2026-04-01", "2026-04-30")).toEqual([
      ["llm", "USD", 4, 10_000_000_000, 700],
      ["llm", null, 3, 5_000_000_000, 600],
      ["tts", "USD", 3, 5_000_000_000, 600],
    ]);
    expect(await read("2026-04-03", "2026-04-30")).toEqual([]);
    expect(
      await readEngineUsage(db, accountId, { fromDay: "2026-04-01", toDay: "2026-05-01" }, 1),
    ).toHaveLength(1);
  });

  it("takes names that differ only in what a database cannot store as one", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const engines = [engine({ model: "a\u0000" }), engine({ model: "a\uFFFD" }), engine({ model: null })];
    await ended(accountId, CREATED_MS, { currency: null, engines: [...engines, engine({ model: "" })] });
    const rows = await readEngineUsage(db, accountId, { fromDay: "2026-04-01", toDay: "2026-04-01" }, 10);
    expect(rows.map(({ model, requests }) => [model, requests])).toEqual([
      ["a\uFFFD", 6],
      [null, 6],
    ]);
  });

  it("is added by calls that end at the same time", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const engines = [engine(), VOICE, engine({ kind: "stt", engine: "ears" })];
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        ended(accountId, CREATED_MS, {
          currency: "USD",
          engines: index % 2 === 0 ? engines : engines.toReversed(),
        }),
      ),
    );
    const rows = await readEngineUsage(db, accountId, { fromDay: "2026-04-01", toDay: "2026-04-01" }, 10);
    expect(rows.map(({ kind, requests }) => [kind, requests])).toEqual([
      ["stt", 36],
      ["llm", 36],
      ["tts", 36],
    ]);
  });
});
