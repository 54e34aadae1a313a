import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import {
  claimScheduledCalls,
  intendCall,
  readDocument,
  renewClaims,
  sweepExpiredClaims,
  type ClaimedCall,
} from "./batch-claims.ts";
import { expireScheduledCalls, storeCallOutcomes } from "./batch-outcomes.ts";
import { deleteBatch, getBatch, updateBatch, type BatchSettingsRow } from "./batches.ts";
import { listCreatedCalls, listScheduledCalls } from "./scheduled-calls.ts";
import { insertCall } from "../calls/calls.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { ClaimLostError } from "../database/store-errors.ts";
import {
  callsOf,
  expireClaims,
  newBatch,
  outcomeOf,
  removeBatches,
  skipWaits,
  statusesOf,
  type OwnBatch,
} from "../testing/batches.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";

const ALL = { limit: 100, after: null, direction: "forward" } as const;
const room = (perBatch: number, fullAccounts: readonly string[] = []) => ({
  perBatch,
  batches: new Map<string, number>(),
  fullAccounts,
});

describeOnBothDatabases("claims on scheduled calls", (current) => {
  afterEach(async () => removeBatches(current().db));

  const claim = async (perBatch = 10): Promise<readonly ClaimedCall[]> =>
    (await claimScheduledCalls(current().db, room(perBatch)))?.calls ?? [];
  const statuses = ({ batchId }: OwnBatch): Promise<string[]> => statusesOf(current().db, batchId);
  const read = async ({ accountId, agentId, batchId }: OwnBatch) =>
    getBatch(current().db, accountId, agentId, batchId);
  const change = async (batch: OwnBatch, changes: Partial<BatchSettingsRow>): Promise<void> => {
    const { accountId, agentId, batchId } = batch;
    await updateBatch(current().db, accountId, agentId, batchId, async (present) => ({
      ...present,
      webhookSecret: undefined,
      ...changes,
    }));
  };

  it("come in the order given, with secrets, and never twice however many claim", async () => {
    const { db } = current();
    const sip = { outgoing: { to: "sip:a@b.example", from: "c", username: "u", password: "sip-password" } };
    const batch = await newBatch(db, [{ medium: { sip } }, ...callsOf(59)]);
    const claims = await Promise.all(Array.from({ length: 12 }, () => claimScheduledCalls(db, room(10))));
    const calls = claims.flatMap((claimed) => claimed?.calls ?? []);
    for (let more = await claim(); more.length > 0; more = await claim()) calls.push(...more);
    expect(calls.map(({ position }) => position).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, n) => n),
    );
    expect(new Set(calls.map(({ claimId }) => claimId)).size).toBe(60);
    for (const claimed of claims) {
      const positions = claimed?.calls.map(({ position }) => position) ?? [];
      expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    }
    const secrets = claims.flatMap((claimed) => (claimed === null ? [] : [claimed.webhookSecret]));
    expect(new Set(secrets)).toEqual(new Set([batch.webhookSecret]));
    expect(calls.find(({ position }) => position === 0)?.document).toEqual({ medium: { sip } });
    expect(new Set(await statuses(batch))).toEqual(new Set(["PENDING"]));
  });

  it("leave out what is too large to be read along", async () => {
    const { db } = current();
    const large = { templateContext: { text: "x".repeat(20_000) } };
    await newBatch(db, [large, {}]);
    const [first, second] = await claim();
    expect([first?.document, second?.document]).toEqual([null, {}]);
    expect(first !== undefined && (await readDocument(db, first))).toEqual(large);
    expect(first !== undefined && (await readDocument(db, { ...first, claimId: randomUUID() }))).toBeNull();
  });

  it("are made of no batch that is paused, deleted, ended, or outside of its window", async () => {
    const { db } = current();
    const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
    const paused = await newBatch(db, callsOf(2), { paused: true });
    await newBatch(db, callsOf(2), { windowStart: inMs(60_000) });
    await newBatch(db, callsOf(2), { windowEnd: inMs(-1) });
    const gone = await newBatch(db, callsOf(2));
    await deleteBatch(db, gone.accountId, gone.agentId, gone.batchId);
    expect(await claimScheduledCalls(db, room(10))).toBeNull();
    await change(paused, { paused: false });
    expect(await claim()).toHaveLength(2);
  });

  it("give every batch its turn, as much as there is room for, and pass over those without", async () => {
    const { db } = current();
    const [first, second] = [await newBatch(db, callsOf(5)), await newBatch(db, callsOf(5))];
    const claimed = async (batches: [string, number][]): Promise<[string, number] | null> => {
      const batch = await claimScheduledCalls(db, { ...room(1), batches: new Map(batches) });
      return batch === null ? null : [batch.batchId, batch.calls.length];
    };
    const turns = [await claimed([]), await claimed([])];
    expect(new Set(turns)).toEqual(
      new Set([
        [first.batchId, 1],
        [second.batchId, 1],
      ]),
    );
    expect(await claimed([[first.batchId, 0]])).toEqual([second.batchId, 1]);
    const both = [await claimed([[first.batchId, 3]]), await claimed([[first.batchId, 3]])];
    expect(both).toContainEqual([first.batchId, 3]);
    const { accountId } = first;
    expect(await claimScheduledCalls(db, room(1, [accountId]))).toMatchObject({ batchId: second.batchId });
    expect(await claimScheduledCalls(db, room(1, [accountId, second.accountId]))).toBeNull();
    const none: [string, number][] = [
      [first.batchId, 0],
      [second.batchId, 0],
    ];
    expect(await claimed(none)).toBeNull();
  });

  it("of a batch of which nothing is due are not looked for again at once", async () => {
    const { db } = current();
    await newBatch(db, callsOf(1));
    const [call] = await claim();
    expect((await claimScheduledCalls(db, room(1)))?.calls).toEqual([]);
    expect(await claimScheduledCalls(db, room(1))).toBeNull();
    if (call === undefined) throw new Error("nothing was claimed");
    // Returned calls are due at once.
    await storeCallOutcomes(db, call.batchId, [outcomeOf(call, { status: "FUTURE" })], 0);
    expect(await claim()).toHaveLength(1);
  });

  it("that expire without an intent go back, with one they are an error, and never a second call", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(3));
    const [first, second] = await claim(2);
    if (first === undefined || second === undefined) throw new Error("nothing was claimed");
    await intendCall(db, second, null);
    expect(await sweepExpiredClaims(db)).toEqual({ givenBack: 0, unknown: 0 });
    await expireClaims(db);
    expect(await sweepExpiredClaims(db)).toEqual({ givenBack: 1, unknown: 1 });
    expect(await statuses(batch)).toEqual(["FUTURE", "ERROR", "FUTURE"]);
    expect(await read(batch)).toMatchObject({ completedCount: 1, failedCount: 1, endedAt: null });
    // The process was only slow: it can make no call any more, and its outcomes change nothing.
    await expect(intendCall(db, first, null)).rejects.toThrow(ClaimLostError);
    await storeCallOutcomes(db, batch.batchId, [outcomeOf(first), outcomeOf(second)], 0);
    expect(await renewClaims(db, [first, second])).toEqual(new Set());
    expect(await statuses(batch)).toEqual(["FUTURE", "ERROR", "FUTURE"]);
    expect(await read(batch)).toMatchObject({ completedCount: 1 });
    const { rows } = await listScheduledCalls(db, batch.accountId, batch.batchId, { status: "ERROR" }, ALL);
    expect(rows[0]?.error).toContain("outcome unknown");
  });

  it("that expire repeatedly are given up", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(1));
    for (let lapses = 0; lapses < 5; lapses += 1) {
      expect(await statuses(batch)).toEqual(["FUTURE"]);
      await skipWaits(db);
      expect(await claim()).toHaveLength(1);
      await expireClaims(db);
      await sweepExpiredClaims(db);
    }
    expect(await statuses(batch)).toEqual(["ERROR"]);
    expect((await read(batch))?.endedAt).not.toBeNull();
  });

  it("that are renewed do not expire", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(1));
    const calls = await claim();
    await sql`update scheduled_calls set leased_until = now() + interval '1 second'
      where batch_id = ${batch.batchId}`.execute(db.query);
    expect(await renewClaims(db, calls)).toEqual(new Set(calls.map(({ claimId }) => claimId)));
    const left = await sql<{ ok: boolean }>`
      select leased_until > now() + interval '20 seconds' as ok from scheduled_calls
      where batch_id = ${batch.batchId}`.execute(db.query);
    expect(left.rows).toEqual([{ ok: true }]);
  });

  it("allow no call after the window has closed or the batch was deleted", async () => {
    const { db } = current();
    const closed = await newBatch(db, callsOf(1), { windowEnd: new Date(Date.now() + 60_000).toISOString() });
    const deleted = await newBatch(db, callsOf(1));
    const calls = [...(await claim(1)), ...(await claim(1))];
    expect(calls).toHaveLength(2);
    await sql`update scheduled_batches set window_end_at = now() - interval '1 second'
      where id = ${closed.batchId} and hidden_until is null`.execute(db.query);
    await deleteBatch(db, deleted.accountId, deleted.agentId, deleted.batchId);
    for (const call of calls) await expect(intendCall(db, call, null)).rejects.toThrow(ClaimLostError);
  });

  it("let a deletion be answered when the call that is just being made is there, and no later call", async () => {
    const { db, kind } = current();
    const { accountId, agentId, batchId } = await newBatch(db, callsOf(2));
    const [first, second] = await claim();
    if (first === undefined || second === undefined) throw new Error("nothing was claimed");
    const order: string[] = [];
    const waits = async (tx: Db): Promise<boolean> => {
      // During a transaction the embedded database serves no other connection.
      if (kind === "embedded") return true;
      const waiting = await sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        tx.query,
      );
      return waiting.rows.length > 0;
    };
    let deletion: Promise<unknown> = Promise.resolve();
    await inTransaction(db, async (tx) => {
      await intendCall(tx, first, null);
      deletion = deleteBatch(db, accountId, agentId, batchId).then(() => order.push("deleted"));
      await expect.poll(async () => order.length > 0 || (await waits(tx)), { timeout: 5_000 }).toBe(true);
      order.push("made");
    });
    await deletion;
    expect(order).toEqual(["made", "deleted"]);
    await expect(intendCall(db, second, null)).rejects.toThrow(ClaimLostError);
  });

  it("are counted once they have an outcome, and the last one ends the batch", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(3));
    const [first, second, third] = await claim();
    if (first === undefined || second === undefined || third === undefined) throw new Error("too few");
    const call = newCall({ agentId: batch.agentId });
    await insertCall(db, batch.accountId, call);
    await intendCall(db, first, call.callId);
    const outcomes = [
      outcomeOf(first, { callId: call.callId }),
      outcomeOf(second, { status: "ERROR", error: "webhook: HTTP 500", counts: "failure" }),
      outcomeOf(third, { status: "FUTURE", dueInMs: 3_600_000, attempted: true }),
    ];
    const kept = await storeCallOutcomes(db, batch.batchId, outcomes, 0);
    expect(kept).toEqual({ pauseReason: null, ended: false });
    expect(await statuses(batch)).toEqual(["SUCCESS", "ERROR", "FUTURE"]);
    expect(await read(batch)).toMatchObject({ completedCount: 2, failedCount: 1, endedAt: null });
    const made = await listCreatedCalls(db, batch.accountId, batch.batchId, ALL);
    expect(made.rows.map(({ callId }) => callId)).toEqual([call.callId]);
    // Postponed by an hour.
    await skipWaits(db);
    expect(await claim()).toEqual([]);
    await sql`update scheduled_calls set due_at = now() where batch_id = ${batch.batchId}`.execute(db.query);
    await skipWaits(db);
    const [again] = await claim();
    expect(again?.attempts).toBe(1);
    if (again === undefined) throw new Error("nothing was claimed");
    const last = [outcomeOf(again, { callId: call.callId })];
    expect(await storeCallOutcomes(db, batch.batchId, last, 0)).toEqual({ pauseReason: null, ended: true });
    expect(await read(batch)).toMatchObject({ completedCount: 3, endedAt: expect.any(String) as string });
  });

  it("whose maker does not know that the call is there are an error, and never a second call", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(2));
    const [first, second] = await claim();
    if (first === undefined || second === undefined) throw new Error("too few");
    const call = newCall({ agentId: batch.agentId });
    // The connection broke before the database confirmed the commit.
    await inTransaction(db, async (tx) => {
      await insertCall(tx, batch.accountId, call);
      await intendCall(tx, first, call.callId);
    });
    const fault = {
      status: "FUTURE",
      error: "a fault of this server",
      lapsed: true,
      dueInMs: 60_000,
    } as const;
    await storeCallOutcomes(db, batch.batchId, [outcomeOf(first, fault), outcomeOf(second, fault)], 0);
    const { rows } = await listScheduledCalls(db, batch.accountId, batch.batchId, {}, ALL);
    expect(rows.map(({ status, callId }) => [status, callId])).toEqual([
      ["ERROR", call.callId],
      ["FUTURE", null],
    ]);
    expect(rows[0]?.error).toContain("outcome unknown");
    expect(await read(batch)).toMatchObject({ completedCount: 1, failedCount: 1 });
  });

  it("wait as long as an outcome says, unless the batch is changed", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(2));
    const [first] = await claim(1);
    if (first === undefined) throw new Error("nothing was claimed");
    const failed = outcomeOf(first, { status: "ERROR", error: "webhook: no answer" });
    await storeCallOutcomes(db, batch.batchId, [failed], 30_000);
    expect(await claimScheduledCalls(db, room(1))).toBeNull();
    await change(batch, { webhookUrl: "https://other.example/join" });
    expect(await claimScheduledCalls(db, room(1))).toMatchObject({
      webhookUrl: "https://other.example/join",
      calls: [{ position: 1 }],
    });
  });

  it("wait no longer than they have to where all that is left was under way", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(1));
    const [call] = await claim(1);
    // No due call is left: the batch is checked again after half a minute.
    expect(await claim(1)).toEqual([]);
    if (call === undefined) throw new Error("nothing was claimed");
    await storeCallOutcomes(db, batch.batchId, [outcomeOf(call, { status: "FUTURE" })], 20);
    await expect.poll(async () => (await claim(1)).length, { timeout: 5_000, interval: 10 }).toBe(1);
  });

  it("stop when too many calls fail, and start again without recent outcomes", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(30), { extensions: { pauseOnFailureRate: 0.6 } });
    const fail = async (failures: number, successes: number) => {
      await skipWaits(db);
      const calls = await claim(failures + successes);
      const outcomes = calls.map((call, index) =>
        index < failures
          ? outcomeOf(call, { status: "ERROR", error: "no", counts: "failure" })
          : outcomeOf(call, { counts: "success" }),
      );
      return storeCallOutcomes(db, batch.batchId, outcomes, 0);
    };
    // At least five outcomes, and at least six failures of ten.
    expect(await fail(4, 0)).toMatchObject({ pauseReason: null });
    expect(await fail(0, 3)).toMatchObject({ pauseReason: null });
    const pauseReason = "5 of 8 outcomes within 2 minutes were failures";
    expect(await fail(1, 0)).toMatchObject({ pauseReason });
    expect(await read(batch)).toMatchObject({ paused: true, pauseReason, completedCount: 8, endedAt: null });
    expect(await claim()).toEqual([]);
    await change(batch, { windowEnd: null });
    expect(await read(batch)).toMatchObject({ paused: true, pauseReason });
    await change(batch, { paused: false });
    expect(await read(batch)).toMatchObject({ paused: false, pauseReason: null });
    expect(await fail(4, 0)).toMatchObject({ pauseReason: null });
    expect(await fail(1, 0)).toMatchObject({ pauseReason: expect.stringContaining("5 of 5") as string });
    await change(batch, { paused: false });
    await skipWaits(db);
    const underWay = await claim(5);
    await change(batch, { paused: true });
    const failures = underWay.map((call) =>
      outcomeOf(call, { status: "ERROR", error: "no", counts: "failure" }),
    );
    await storeCallOutcomes(db, batch.batchId, failures, 0);
    // A user had paused it, so the service stores no reason.
    expect(await read(batch)).toMatchObject({ paused: true, pauseReason: null, completedCount: 18 });
  });

  it("expire with the window, also those of a paused batch, and what is under way ends first", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(2_100));
    const paused = await newBatch(db, callsOf(3), { paused: true });
    const [under] = await claim(1);
    expect(await expireScheduledCalls(db)).toBe(0);
    await sql`update scheduled_batches set window_end_at = now() - interval '1 second' where hidden_until is null`.execute(
      db.query,
    );
    let expired = 0;
    for (let more = await expireScheduledCalls(db); more > 0; more = await expireScheduledCalls(db)) {
      expect(more).toBeLessThanOrEqual(1_000);
      expired += more;
    }
    expect(expired).toBe(2_099 + 3);
    expect(await read(paused)).toMatchObject({ completedCount: 3, endedAt: expect.any(String) as string });
    expect(await read(batch)).toMatchObject({ completedCount: 2_099, endedAt: null });
    if (under === undefined) throw new Error("nothing was claimed");
    await storeCallOutcomes(db, batch.batchId, [outcomeOf(under)], 0);
    expect((await read(batch))?.endedAt).not.toBeNull();
    expect(new Set((await statuses(batch)).slice(1))).toEqual(new Set(["EXPIRED"]));
  });

  it("of deleted batches change nothing", async () => {
    const { db } = current();
    const batch = await newBatch(db, callsOf(2));
    const [first] = await claim();
    await deleteBatch(db, batch.accountId, batch.agentId, batch.batchId);
    if (first === undefined) throw new Error("nothing was claimed");
    expect(await storeCallOutcomes(db, batch.batchId, [outcomeOf(first)], 0)).toBeNull();
    await expireClaims(db);
    expect(await sweepExpiredClaims(db)).toEqual({ givenBack: 0, unknown: 0 });
    await sql`update scheduled_batches set window_end_at = now() - interval '1 second'
      where hidden_until is not null`.execute(db.query);
    expect(await expireScheduledCalls(db)).toBe(0);
  });
});
