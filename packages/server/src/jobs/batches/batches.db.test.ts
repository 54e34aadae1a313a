import { createHmac, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { Webhook as StandardVerifier } from "standardwebhooks";
import { afterEach, expect, it } from "vitest";
import type { CreateCall, CreateCallInput, CreateCallOutcome } from "../../lifecycle/api.ts";
import { callRenderer } from "../../lifecycle/resource.ts";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { FakeOutgoingMedia } from "../../ports/testing/fake-outgoing-media.ts";
import type { OutgoingOutcome } from "../../ports/outgoing-media.ts";
import { getBatch, updateBatch, type BatchRow } from "../../store/batches/batches.ts";
import { getCall } from "../../store/calls/calls.ts";
import { addDoNotCall } from "../../store/batches/do-not-call.ts";
import { listScheduledCalls, type ScheduledCallRow } from "../../store/batches/scheduled-calls.ts";
import {
  callsOf,
  expireClaims,
  newBatch,
  removeBatches,
  skipWaits,
  type OwnBatch,
} from "../../store/testing/batches.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { openReceiver, deliveryOf, type Receiver, type Received } from "../testing/receiver.ts";
import { storedCallCreator } from "../testing/stored-calls.ts";
import { openBatchDispatcher, type BatchDispatcher } from "./dispatcher.ts";

const LIMIT = { timeout: 60_000, interval: 10 };
const ALL = { limit: 100, after: null, direction: "forward" } as const;

function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const timestamp = headers["x-service-webhook-timestamp"] ?? "";
  const expected = createHmac("sha256", secret)
    .update(body + timestamp)
    .digest("hex");
  return headers["x-service-webhook-signature"] === expected;
}

const dial = (to: string): object => ({ medium: { telephony1: { outgoing: { to, from: "+4930654321" } } } });

describeOnBothDatabases("the dispatcher of batches", (current) => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await removeBatches(current().db);
  });

  const receive = async (...given: Parameters<typeof openReceiver>): Promise<Receiver> => {
    const receiver = await openReceiver(...given);
    opened.unshift(receiver);
    return receiver;
  };
  /** Stores the call as the service does. */
  const create: CreateCall = (input) => storedCallCreator(current().db)(input);
  const dispatch = (
    changes: { createCall?: CreateCall; outgoing?: FakeOutgoingMedia; nowMs?: () => number } = {},
  ): BatchDispatcher & { readonly unjoined: string[]; readonly labels: string[] } => {
    const [unjoined, labels]: [string[], string[]] = [[], []];
    const dispatcher = openBatchDispatcher({
      db: current().db,
      createCall: create,
      outgoing: new FakeOutgoingMedia(),
      endUnjoined: (callId) => void unjoined.push(callId),
      client: openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") }),
      renderCall: callRenderer({ apiNames: "neutral" }, () => "https://voice.example"),
      prefixes: ["X-Service-"],
      metrics: {
        ended: (label) => void labels.push(label),
        expired: () => undefined,
        underWay: () => undefined,
      },
      log: { warn: () => undefined, error: () => undefined },
      nowMs: Date.now,
      ...changes,
    });
    opened.push(dispatcher);
    dispatcher.start();
    return { ...dispatcher, unjoined, labels };
  };
  const callsIn = async ({ accountId, batchId }: OwnBatch): Promise<readonly ScheduledCallRow[]> =>
    (await listScheduledCalls(current().db, accountId, batchId, {}, ALL)).rows;
  const statuses = async (batch: OwnBatch): Promise<string[]> =>
    (await callsIn(batch)).map(({ status }) => status);
  const read = async ({ accountId, agentId, batchId }: OwnBatch) =>
    getBatch(current().db, accountId, agentId, batchId);
  const ended = async (batch: OwnBatch): Promise<void> => {
    await expect.poll(async () => (await read(batch))?.endedAt ?? null, LIMIT).not.toBeNull();
  };
  const createdCalls = async ({ agentId }: OwnBatch): Promise<number> => {
    const counted = await sql<{ count: number }>`
      select count(*) as count from calls where agent_id = ${agentId}`.execute(current().db.query);
    return counted.rows[0]?.count ?? 0;
  };
  const dialled = (numbers: readonly string[], extensions: BatchRow["extensions"] = {}): Promise<OwnBatch> =>
    newBatch(current().db, numbers.map(dial), { webhookUrl: null, needsWebhook: false, extensions });

  it("creates each call once, and tells the receiver where to join it", async () => {
    const { db } = current();
    const receiver = await receive(() => 204);
    const secret = `whsec_${Buffer.from("a key of some length").toString("base64")}`;
    const batch = await newBatch(db, callsOf(60), { webhookUrl: receiver.url, webhookSecret: secret });
    dispatch();
    dispatch();
    await ended(batch);
    expect(new Set(await statuses(batch))).toEqual(new Set(["SUCCESS"]));
    expect([await createdCalls(batch), receiver.received.length]).toEqual([60, 60]);
    expect(await read(batch)).toMatchObject({ completedCount: 60, totalCount: 60 });
    const notified = receiver.received.map(({ body }) => deliveryOf(body));
    const calls = await callsIn(batch);
    for (const [position, { callId }] of calls.entries()) {
      const call = notified.find((one) => one.call.callId === callId)?.call;
      expect(call).toMatchObject({ joined: null, metadata: { n: String(position) } });
      expect(call?.["joinUrl"]).toMatch(/^wss:\/\/voice\.example\/calls\//);
    }
    expect(new Set(notified.map(({ deliveryId }) => deliveryId)).size).toBe(60);
    for (const one of receiver.received.slice(0, 3)) {
      expect(deliveryOf(one.body)).toMatchObject({ event: "call.started", webhookId: null });
      expect(isSignedBy(secret, one)).toBe(true);
      expect(new StandardVerifier(secret).verify(one.body, one.headers)).toEqual(deliveryOf(one.body));
    }
  });

  it("a receiver that fails costs one call in 30 s, which ends unjoined; then it continues", async () => {
    const { db } = current();
    let status = 500;
    const receiver = await receive(() => status);
    const batch = await newBatch(db, callsOf(3), { webhookUrl: receiver.url });
    const dispatcher = dispatch();
    await expect.poll(async () => (await read(batch))?.completedCount, LIMIT).toBe(1);
    const [failed] = await callsIn(batch);
    expect(failed).toMatchObject({ status: "ERROR", error: "webhook: HTTP 500" });
    expect(dispatcher.unjoined).toEqual([failed?.callId]);
    expect(await getCall(db, batch.accountId, failed?.callId ?? "")).not.toBeNull();
    const turn = await sql<{ waits: boolean }>`
      select turn_at > now() + interval '20 seconds' as waits from scheduled_batches
      where id = ${batch.batchId} and hidden_until is null`.execute(db.query);
    expect(turn.rows).toEqual([{ waits: true }]);
    // Nothing more was claimed, or it went back.
    await expect.poll(() => statuses(batch), LIMIT).toEqual(["ERROR", "FUTURE", "FUTURE"]);
    expect(receiver.received).toHaveLength(1);
    status = 200;
    await skipWaits(db);
    dispatcher.wake();
    await ended(batch);
    expect(await statuses(batch)).toEqual(["ERROR", "SUCCESS", "SUCCESS"]);
  });

  it("an address that is not allowed is not asked", async () => {
    const batch = await newBatch(current().db, callsOf(1), { webhookUrl: "http://127.0.0.2:1/" });
    dispatch();
    await ended(batch);
    expect((await callsIn(batch))[0]).toMatchObject({
      status: "ERROR",
      error: "webhook: address not allowed",
    });
  });

  it("continues when a limit says so, without asking for more meanwhile", async () => {
    const receiver = await receive(() => 200);
    const batch = await newBatch(current().db, callsOf(4), { webhookUrl: receiver.url });
    const answers: CreateCallOutcome[] = [
      { kind: "later", waitMs: 400, limit: "throttle" },
      { kind: "full", waitMs: 100, reason: "This server is full." },
      { kind: "lost", reason: "The claim is lost." },
    ];
    let requested = 0;
    const dispatcher = dispatch({
      createCall: async (call) => {
        requested += 1;
        return answers.shift() ?? create(call);
      },
    });
    await ended(batch);
    expect(await statuses(batch)).toEqual(Array.from({ length: 4 }, () => "SUCCESS"));
    expect([requested, await createdCalls(batch)]).toEqual([7, 4]);
    expect(dispatcher.labels.filter((label) => label !== "success")).toEqual(["later", "later", "lost"]);
  });

  it("says why a call cannot be created, and tries again what failed through a fault of ours", async () => {
    const { db } = current();
    const receiver = await receive(() => 200);
    const batch = await newBatch(db, callsOf(3), { webhookUrl: receiver.url });
    let faults = 0;
    const dispatcher = dispatch({
      createCall: (call) => {
        if (call.scheduled?.position === 0) {
          return Promise.resolve({
            kind: "refused",
            errors: [{ field: "templateContext.name", message: "must be a text" }],
          });
        }
        if (call.scheduled?.position === 1 && (faults += 1) === 1)
          return Promise.reject(new Error("no disk"));
        return create(call);
      },
    });
    await expect.poll(() => statuses(batch), LIMIT).toEqual(["ERROR", "FUTURE", "SUCCESS"]);
    expect((await callsIn(batch))[0]?.error).toBe("templateContext.name must be a text");
    await sql`update scheduled_calls set due_at = now() where batch_id = ${batch.batchId}`.execute(db.query);
    await skipWaits(db);
    dispatcher.wake();
    await ended(batch);
    expect(await statuses(batch)).toEqual(["ERROR", "SUCCESS", "SUCCESS"]);
  });

  it("makes no call while the batch is paused, and continues when it is resumed", async () => {
    const { db } = current();
    const receiver = await receive(() => 200);
    const batch = await newBatch(db, callsOf(3), { webhookUrl: receiver.url, paused: true });
    const other = await newBatch(db, callsOf(2), { webhookUrl: receiver.url });
    const dispatcher = dispatch();
    await ended(other);
    expect(await statuses(batch)).toEqual(["FUTURE", "FUTURE", "FUTURE"]);
    await updateBatch(db, batch.accountId, batch.agentId, batch.batchId, async (present) => ({
      ...present,
      webhookSecret: undefined,
      paused: false,
    }));
    dispatcher.wake();
    await ended(batch);
    expect(await createdCalls(batch)).toBe(3);
  });

  it("expires what is left when the window closes, also of a paused batch", async () => {
    const { db } = current();
    const windowEnd = new Date(Date.now() + 50).toISOString();
    const batch = await newBatch(db, callsOf(3), { paused: true, windowEnd });
    dispatch();
    await ended(batch);
    expect(await statuses(batch)).toEqual(["EXPIRED", "EXPIRED", "EXPIRED"]);
    expect(await createdCalls(batch)).toBe(0);
  });

  it("a batch whose calls keep failing is paused", async () => {
    const batch = await newBatch(current().db, callsOf(20), {
      extensions: { pauseOnFailureRate: 0.5 },
    });
    dispatch({
      createCall: () => Promise.resolve({ kind: "not_available", reason: "there is no such voice" }),
    });
    await expect.poll(async () => (await read(batch))?.paused, LIMIT).toBe(true);
    const { completedCount = 0 } = (await read(batch)) ?? {};
    expect(completedCount).toBeGreaterThanOrEqual(5);
    expect(completedCount).toBeLessThan(20);
  });

  it("ends within its time, and gives back what it has not begun", async () => {
    const { db } = current();
    const receiver = await receive(() => "hang");
    const batch = await newBatch(db, callsOf(4), { webhookUrl: receiver.url });
    const dispatcher = dispatch();
    await expect.poll(() => receiver.received.length, LIMIT).toBe(1);
    await dispatcher.close();
    const [first, ...others] = await callsIn(batch);
    // The person may have been notified, so there is no second notification.
    expect(first).toMatchObject({
      status: "ERROR",
      error: expect.stringContaining("outcome unknown") as string,
    });
    expect(others.map(({ status }) => status)).toEqual(["FUTURE", "FUTURE", "FUTURE"]);
    expect(dispatcher.unjoined).toEqual([]);
  });

  it("is settled by another process when its own crashes between the call and its outcome", async () => {
    const { db } = current();
    const receiver = await receive(() => "hang");
    const batch = await newBatch(db, callsOf(2), { webhookUrl: receiver.url });
    const dying = dispatch();
    await expect.poll(() => receiver.received.length, LIMIT).toBe(1);
    await expireClaims(db);
    // Its own sweep treats it as any other would.
    await expect.poll(async () => (await statuses(batch))[0], LIMIT).toBe("ERROR");
    await dying.close();
    expect((await callsIn(batch))[0]?.error).toContain("outcome unknown");
    expect(await createdCalls(batch)).toBeLessThanOrEqual(2);
    expect(receiver.received.length).toBe(await createdCalls(batch));
  });

  it("dials once, with the intent on record before, and knows nothing of what breaks off", async () => {
    const { db } = current();
    const outgoing = new FakeOutgoingMedia();
    const batch = await dialled(["+49301", "+49302"]);
    const intents: unknown[] = [];
    outgoing.outcomeOf = async ({ scheduled }) => {
      const intent = await sql`
        select intended_at is not null as stored from scheduled_calls
        where batch_id = ${scheduled.batchId} and position = ${scheduled.position}`.execute(db.query);
      intents.push(...intent.rows);
      if (scheduled.position === 0) return new Error("the line to the carrier broke");
      return { kind: "placed", callId: randomUUID() };
    };
    dispatch({ outgoing });
    await ended(batch);
    expect(intents).toEqual([{ stored: true }, { stored: true }]);
    const [first, second] = await callsIn(batch);
    expect(first?.error).toContain("outcome unknown");
    expect(second).toMatchObject({ status: "SUCCESS", callId: expect.any(String) as string });
    expect(outgoing.placed.map(({ until }) => until)).toEqual(["accepted", "accepted"]);
  });

  it("dials again who was busy or a machine, as often as the policy says, and not who does not exist", async () => {
    const { db } = current();
    const outgoing = new FakeOutgoingMedia();
    const outcomes: Readonly<Record<string, OutgoingOutcome>> = {
      "+49301": { kind: "busy", callId: null, reason: "the line is busy" },
      "+49302": { kind: "failed", callId: null, reason: "there is no such number" },
      "+49303": { kind: "machine", callId: randomUUID(), reason: "a machine answered" },
    };
    outgoing.outcomeOf = ({ medium }) => outcomes[medium.telephony1?.outgoing?.to ?? ""] ?? { kind: "lost" };
    const retryPolicy = {
      maxAttempts: 3,
      wait: "60s",
      on: ["busy", "machine"] as ("busy" | "machine")[],
    };
    const batch = await dialled(["+49301", "+49302", "+49303"], { retryPolicy });
    const dispatcher = dispatch({ outgoing });
    for (let attempts = 1; attempts <= 3; attempts += 1) {
      const [state, answered] = attempts < 3 ? ["FUTURE", "FUTURE"] : ["ERROR", "SUCCESS"];
      await expect
        .poll(async () => [outgoing.placed.length, ...(await statuses(batch))], LIMIT)
        .toEqual([attempts * 2 + 1, state, "ERROR", answered]);
      await sql`update scheduled_calls set due_at = now() where due_at > now()`.execute(db.query);
      await skipWaits(db);
      dispatcher.wake();
    }
    await ended(batch);
    expect((await callsIn(batch)).map(({ error }) => error)).toEqual([
      "the line is busy",
      "there is no such number",
      null,
    ]);
    expect(new Set(outgoing.placed.map(({ until }) => until))).toEqual(new Set(["person"]));
  });

  it("does not dial who is on the list, unless the batch says so, and nobody whom it cannot look up", async () => {
    const { db } = current();
    const outgoing = new FakeOutgoingMedia();
    const batch = await dialled(["+49 30 1", "+49302", "sip:+49301@carrier.example", "0301"]);
    await addDoNotCall(db, batch.accountId, { number: "+49301", note: null });
    dispatch({ outgoing });
    await ended(batch);
    expect((await callsIn(batch)).map(({ error }) => error?.slice(0, 30) ?? null)).toEqual([
      "the number is on the do-not-ca",
      null,
      "the number is on the do-not-ca",
      "the number is neither in E.164",
    ]);
    const reckless = await dialled(["+49301"], { respectDoNotCall: false });
    await addDoNotCall(db, reckless.accountId, { number: "+49301", note: null });
    await ended(reckless);
    expect(await statuses(reckless)).toEqual(["SUCCESS"]);
  });

  it("dials nobody at the wrong hour of theirs, and a number no more often in a day than allowed", async () => {
    const { db } = current();
    const outgoing = new FakeOutgoingMedia();
    const days = ["mon", "tue", "wed", "thu", "fri"] as ("mon" | "tue" | "wed" | "thu" | "fri")[];
    // A Tuesday, 10:00 in Berlin and 04:00 in New York.
    const nowMs = (): number => Date.parse("2030-01-08T09:00:00Z");
    const callingHours = { timeZone: "callee", days, start: "09:00", end: "18:00" };
    const batch = await dialled(["+49301", "+12125550100", "+49301", "+49301", "+80012345678"], {
      callingHours,
      maxAttemptsPerNumberPerDay: 2,
    });
    dispatch({ outgoing, nowMs });
    await expect
      .poll(() => statuses(batch), LIMIT)
      .toEqual(["SUCCESS", "FUTURE", "SUCCESS", "FUTURE", "ERROR"]);
    await expect.poll(async () => (await callsIn(batch)).length, LIMIT).toBe(5);
    const due = await sql<{ hours: number }>`
      select round(extract(epoch from due_at - now()) / 3600)::int as hours from scheduled_calls
      where batch_id = ${batch.batchId} and position in (1, 3) order by position`.execute(db.query);
    // Until it is nine in Los Angeles as well, and within a day of the first attempt.
    expect(due.rows).toEqual([{ hours: 8 }, { hours: 24 }]);
    expect((await callsIn(batch))[4]?.error).toContain("time zone of the number is not known");
    const inBerlin = await dialled(["+12125550100"], {
      callingHours: { ...callingHours, timeZone: "Europe/Berlin" },
    });
    await ended(inBerlin);
    expect(await statuses(inBerlin)).toEqual(["SUCCESS"]);
  });

  it("refuses a call whose agent does not dial any more, because its join URL would reach nobody", async () => {
    const batch = await newBatch(current().db, [{}], { webhookUrl: null, needsWebhook: false });
    const calls: CreateCallInput[] = [];
    dispatch({
      createCall: (call) => {
        calls.push(call);
        return create(call);
      },
    });
    await ended(batch);
    expect((await callsIn(batch))[0]?.error).toContain("webhookUrl is missing");
    expect(calls).toEqual([]);
  });
});
