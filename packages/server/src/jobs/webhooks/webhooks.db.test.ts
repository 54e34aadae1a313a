import { createHmac } from "node:crypto";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import { sql } from "kysely";
import { Webhook as StandardVerifier } from "standardwebhooks";
import { afterEach, expect, it } from "vitest";
import { callRenderer, sampleCalls } from "../../lifecycle/resource.ts";
import { readAllowedTargets } from "../../net/address-filter.ts";
import type { GuardOptions } from "../../net/guarded-dial.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { createAgent } from "../../store/agents/agents.ts";
import { insertCall, markJoined, removeUnstartedCall, type NewCall } from "../../store/calls/calls.ts";
import { deleteCall, listCallsToDelete } from "../../store/calls/deleted-calls.ts";
import { DEFAULT_METERING, settleCall } from "../../store/accounts/metering.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import {
  createSampleDelivery,
  listDeliveries,
  redeliver,
  type DeliveryRow,
} from "../../store/webhooks/webhook-deliveries.ts";
import { claimDeliveries } from "../../store/webhooks/webhook-queue.ts";
import { createWebhook, getWebhook, updateWebhook, type WebhookRow } from "../../store/webhooks/webhooks.ts";
import { EXPIRED_CERTIFICATE, KEY_OF_EXPIRED_CERTIFICATE } from "../testing/expired-certificate.ts";
import { openReceiver, deliveryOf, type Receiver, type Received } from "../testing/receiver.ts";
import { openDispatcher, type WebhookDispatcher } from "./dispatcher.ts";

const LIMIT = { timeout: 60_000, interval: 10 };
const ALL = { limit: 100, after: null, direction: "forward" } as const;
const EVENTS = ["call.started", "call.joined", "call.ended", "call.billed"] as const;
const LOOPBACK: GuardOptions = { allowed: readAllowedTargets("127.0.0.1") };

/** As the manual describes it. */
function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const timestamp = headers["x-service-webhook-timestamp"] ?? "";
  const expected = createHmac("sha256", secret)
    .update(body + timestamp)
    .digest("hex");
  return (headers["x-service-webhook-signature"] ?? "").split(",").includes(expected);
}

describeOnBothDatabases("webhooks", (current) => {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await sql`delete from webhook_deliveries`.execute(current().db.query);
  });
  const receive = async (...given: Parameters<typeof openReceiver>): Promise<Receiver> => {
    const receiver = await openReceiver(...given);
    opened.unshift(receiver);
    return receiver;
  };
  const dispatch = (guard: GuardOptions = LOOPBACK): WebhookDispatcher => {
    const dispatcher = openDispatcher({
      db: current().db,
      client: openGuardedClient(guard),
      renderCall: callRenderer({ apiNames: "neutral" }, () => "https://voice.example"),
      prefixes: ["X-Service-"],
      metrics: { attempted: () => undefined, firstAttempt: () => undefined, pending: () => undefined },
      log: { warn: () => undefined, error: () => undefined },
      nowMs: Date.now,
      random: () => 0.5,
    });
    opened.push(dispatcher);
    dispatcher.start();
    return dispatcher;
  };
  const subscribe = async (
    url: string,
    changes: object = {},
  ): Promise<WebhookRow & { accountId: string }> => {
    const accountId = await newAccount(current().db);
    const requested = { url, events: EVENTS, agentId: null, secrets: [], ...changes };
    return { ...(await createWebhook(current().db, accountId, requested)), accountId };
  };
  const live = async (accountId: string, changes: Partial<NewCall> = {}): Promise<string> => {
    const { db } = current();
    const call = newCall(changes);
    await insertCall(db, accountId, call);
    const at = call.createdAtMs;
    await markJoined(db, accountId, call.callId, { joinedAtMs: at, clientVersion: null });
    const end = { endReason: "hangup", endedAtMs: at + 7_000 } as const;
    await markEnded(db, accountId, call.callId, { ...end, settlesLater: true });
    expect(await settleCall(db, accountId, call.callId, DEFAULT_METERING)).toBe(true);
    return call.callId;
  };
  const deliveriesOf = async ({
    accountId,
    webhookId,
  }: {
    readonly accountId: string;
    readonly webhookId: string;
  }): Promise<DeliveryRow[]> => (await listDeliveries(current().db, accountId, webhookId, {}, ALL)).rows;
  const sample = async (webhook: WebhookRow & { accountId: string }): Promise<void> => {
    const record = sampleCalls({ maxJoinTimeoutMs: 1e6, maxCallDurationMs: 1e6 });
    const call = record(webhook.accountId, "call.ended");
    await createSampleDelivery(current().db, webhook.accountId, webhook.webhookId, "call.ended", call);
  };
  /** Makes all retries due. */
  const hurry = async (dispatcher: WebhookDispatcher): Promise<void> => {
    await sql`update webhook_deliveries set due_at = now() where status = 'pending' and attempt_id is null`.execute(
      current().db.query,
    );
    dispatcher.wake();
  };

  it("are notified of a call in order, with its record at that time, in bytes that two verifiers accept", async () => {
    const receiver = await receive(() => 204);
    const secrets = ["first secret", `whsec_${Buffer.from("a key of some length").toString("base64")}`];
    const webhook = await subscribe(receiver.url, { secrets });
    const callId = await live(webhook.accountId, { metadata: { b: "1", a: "2" } });
    dispatch();
    await expect.poll(() => receiver.events(), LIMIT).toEqual([...EVENTS]);
    const [started, , ended, billed] = receiver.received.map(({ body }) => deliveryOf(body));
    expect(started?.call).toMatchObject({ callId, joined: null, ended: null, metadata: { b: "1", a: "2" } });
    expect(started?.call["joinUrl"]).toMatch(/^wss:\/\/voice\.example\/calls\//);
    expect(ended?.call).toMatchObject({ endReason: "hangup", billingStatus: "BILLING_STATUS_PENDING" });
    expect(billed?.call).toMatchObject({ billedDuration: "12s", billingStatus: "BILLING_STATUS_BILLED" });
    for (const one of receiver.received) {
      const notified = deliveryOf(one.body);
      expect([notified.webhookId, one.headers["webhook-id"]]).toEqual([
        webhook.webhookId,
        notified.deliveryId,
      ]);
      expect(one.headers["x-service-webhook-timestamp"]).toMatch(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{6}\+00:00$/);
      expect(new StandardVerifier(secrets[1] ?? "").verify(one.body, one.headers)).toEqual(notified);
      for (const secret of secrets) expect(isSignedBy(secret, one)).toBe(true);
      expect(isSignedBy("another secret", one)).toBe(false);
      expect(() => new StandardVerifier(secrets[1] ?? "").verify(`${one.body} `, one.headers)).toThrow(
        "signature",
      );
    }
    await expect
      .poll(async () => (await deliveriesOf(webhook)).map(({ status }) => status), LIMIT)
      .toEqual(EVENTS.map(() => "delivered"));
  });

  it("of an agent, of other events and of other accounts hear nothing else", async () => {
    const receiver = await receive(() => 200);
    const webhook = await subscribe(receiver.url, { events: ["call.billed"] });
    await subscribe(`${receiver.url}other`);
    await live(webhook.accountId);
    const dispatcher = dispatch();
    await expect.poll(() => receiver.events(), LIMIT).toEqual(["call.billed"]);
    expect(receiver.received).toHaveLength(1);
    const { accountId } = webhook;
    const { agentId } = await createAgent(current().db, accountId, { name: "A", callTemplate: null });
    const limited = await createWebhook(current().db, accountId, {
      url: `${receiver.url}agent`,
      events: ["call.ended"],
      agentId,
      secrets: [],
    });
    const calls = [await live(accountId), await live(accountId, { agentId }), await live(accountId)];
    dispatcher.wake();
    await expect.poll(() => receiver.received.length, LIMIT).toBe(1 + calls.length + 1);
    const told = receiver.received.map(({ body }) => deliveryOf(body));
    const ofLimited = told.filter(({ webhookId }) => webhookId === limited.webhookId);
    expect(ofLimited.map(({ event, call }) => [event, call["callId"]])).toEqual([["call.ended", calls[1]]]);
  });

  it("hear of calls that nobody joined, and nothing of calls that were taken back", async () => {
    const { db } = current();
    const receiver = await receive(() => 200);
    const { accountId } = await subscribe(receiver.url);
    const call = newCall();
    await insertCall(db, accountId, call);
    const end = { endReason: "unjoined", endedAtMs: Date.now() } as const;
    expect(await markEnded(db, accountId, call.callId, end)).toBe(true);
    expect(await markEnded(db, accountId, call.callId, end)).toBe(false);
    const unstarted = newCall();
    await insertCall(db, accountId, unstarted);
    expect(await removeUnstartedCall(db, accountId, unstarted.callId)).toBe("removed");
    dispatch();
    await expect.poll(() => receiver.events(), LIMIT).toEqual(["call.started", "call.ended", "call.billed"]);
    expect(new Set(receiver.received.map(({ body }) => deliveryOf(body).call.callId))).toEqual(
      new Set([call.callId]),
    );
    const notified = newCall();
    await insertCall(db, accountId, notified);
    await claimDeliveries(db, {
      total: 1,
      perReceiver: 1,
      receivers: new Map(),
      perAccount: 100,
      accounts: new Map(),
    });
    expect(await removeUnstartedCall(db, accountId, notified.callId)).toBe("notified");
  });

  it("that fail are tried again with the same bytes, and become well when they answer", async () => {
    let status = 500;
    const receiver = await receive(() => status);
    const webhook = await subscribe(receiver.url, { secrets: ["one"] });
    const dispatcher = dispatch();
    await sample(webhook);
    const health = async () => {
      const row = await getWebhook(current().db, webhook.accountId, webhook.webhookId);
      return [row?.status, row?.recentFailures.length];
    };
    for (let failed = 1; failed <= 5; failed += 1) {
      await hurry(dispatcher);
      await expect.poll(health, LIMIT).toEqual([failed < 5 ? "normal" : "unhealthy", failed]);
    }
    const [delivery] = await deliveriesOf(webhook);
    expect(delivery?.attempts[0]).toMatchObject({ status: 500, failure: "HTTP 500" });
    // 30 s doubled four times.
    expect(Date.parse(delivery?.nextAttemptAt ?? "")).toBeGreaterThan(Date.now() + 400_000);
    status = 202;
    await updateWebhook(current().db, webhook.accountId, webhook.webhookId, { secrets: ["two"] });
    await hurry(dispatcher);
    await expect.poll(health, LIMIT).toEqual(["normal", 5]);
    const bodies = new Set(receiver.received.map(({ body }) => body));
    expect([bodies.size, receiver.received.length]).toEqual([1, 6]);
    const last = receiver.received.at(-1);
    expect(last !== undefined && isSignedBy("two", last) && !isSignedBy("one", last)).toBe(true);
    expect(deliveryOf(last?.body ?? "").test).toBe(true);
  });

  it("are given up after their last retry, at once by 410, and can be asked for again", async () => {
    let status = 503;
    const receiver = await receive(() => status);
    const webhook = await subscribe(receiver.url);
    const dispatcher = dispatch();
    await sample(webhook);
    for (let tries = 1; tries <= 11; tries += 1) {
      await expect.poll(async () => (await deliveriesOf(webhook))[0]?.attempts.length, LIMIT).toBe(tries);
      await hurry(dispatcher);
    }
    const [failed] = await deliveriesOf(webhook);
    expect([failed?.status, failed?.nextAttemptAt, receiver.received.length]).toEqual(["failed", null, 11]);
    status = 410;
    const again = async (): Promise<void> => {
      const id = failed?.deliveryId ?? "";
      expect(await redeliver(current().db, webhook.accountId, webhook.webhookId, id)).toMatchObject({
        status: "pending",
      });
      dispatcher.wake();
    };
    await again();
    await expect.poll(async () => (await deliveriesOf(webhook))[0]?.attempts.at(-1)?.status, LIMIT).toBe(410);
    expect((await deliveriesOf(webhook))[0]?.status).toBe("failed");
    status = 200;
    await again();
    await expect.poll(async () => (await deliveriesOf(webhook))[0]?.status, LIMIT).toBe("delivered");
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  });

  it("callbacks are signed with their own secrets, or unsigned without any", async () => {
    const receiver = await receive(() => 200);
    const callbacks = {
      joined: { url: `${receiver.url}joined` },
      ended: { url: `${receiver.url}ended`, secrets: ["of the end"] },
    };
    const accountId = await newAccount(current().db);
    await live(accountId, { settings: { systemPrompt: "Hello.", callbacks } });
    dispatch();
    await expect.poll(() => receiver.received.length, LIMIT).toBe(2);
    const [joined, ended] = receiver.received;
    expect([joined?.path, ended?.path]).toEqual(["/joined", "/ended"]);
    expect(Object.keys(joined?.headers ?? {}).filter((name) => name.includes("signature"))).toEqual([]);
    expect(ended !== undefined && isSignedBy("of the end", ended)).toBe(true);
    expect(deliveryOf(ended?.body ?? "").webhookId).toBeNull();
    expect(ended?.body).not.toContain("of the end");
  });

  it("one that hangs delays no other, and an attempt that is cut off begins again elsewhere", async () => {
    const hanging = await receive(() => "hang");
    const quick = await receive(() => 200);
    const slow = await subscribe(hanging.url);
    const fast = await subscribe(quick.url);
    for (let count = 0; count < 40; count += 1) await sample(slow);
    const first = dispatch();
    await expect.poll(() => hanging.received.length, LIMIT).toBeGreaterThan(10);
    for (let count = 0; count < 40; count += 1) await sample(fast);
    first.wake();
    await expect.poll(() => quick.received.length, LIMIT).toBe(40);
    expect((await deliveriesOf(slow)).filter(({ attempts }) => attempts.length > 0)).toEqual([]);
    const [cutOff] = hanging.received;
    await first.close();
    const before = hanging.received.length;
    dispatch();
    const repeated = (): string[] => hanging.received.slice(before).map(({ body }) => body);
    await expect.poll(repeated, LIMIT).toContain(cutOff?.body);
  });

  it("of one call and webhook wait for the first attempt of the one before", async () => {
    const held = Promise.withResolvers<number>();
    const receiver = await receive(({ body }) =>
      deliveryOf(body).event === "call.started" ? held.promise : 200,
    );
    const { accountId } = await subscribe(receiver.url);
    const dispatcher = dispatch();
    await live(accountId);
    dispatcher.wake();
    await expect.poll(() => receiver.received.length, LIMIT).toBe(1);
    const other = await subscribe(`${receiver.url}other`, { events: ["call.joined"] });
    await live(other.accountId);
    dispatcher.wake();
    await expect.poll(() => receiver.events("/other"), LIMIT).toEqual(["call.joined"]);
    expect(receiver.events()).toEqual(["call.started"]);
    held.resolve(500);
    await expect.poll(() => receiver.events(), LIMIT).toEqual([...EVENTS]);
  });

  it("say in one line why an attempt failed", async () => {
    const { db } = current();
    const cutting = await receive(() => "cut");
    const redirecting = await receive(() => 307);
    const options = { cert: EXPIRED_CERTIFICATE, key: KEY_OF_EXPIRED_CERTIFICATE };
    const expired = await receive(
      () => 200,
      (listener) => createSecureServer(options, listener),
    );
    const gone = await openReceiver(() => 200);
    await gone.close();
    const failures: [string, RegExp][] = [
      [cutting.url, /^connection closed$/],
      [redirecting.url, /^HTTP 307$/],
      [expired.url.replace("http", "https"), /^certificate (?:not trusted|has expired)$/],
      [gone.url, /^connection refused$/],
      ["http://127.0.0.2:9/", /^address not allowed$/],
    ];
    const dispatcher = dispatch();
    for (const [url, line] of failures) {
      const webhook = await subscribe(url);
      await sample(webhook);
      dispatcher.wake();
      await expect
        .poll(
          async () =>
            (await getWebhook(db, webhook.accountId, webhook.webhookId))?.recentFailures[0]?.failure,
          LIMIT,
        )
        .toMatch(line);
    }
    expect([redirecting.received.length, expired.received.length]).toEqual([1, 0]);
  });

  it("never send to an address that a name moves to after it was checked", async () => {
    const { db } = current();
    const written: unknown[] = [];
    const inside = {
      remoteAddress: "10.0.0.8",
      destroy: () => undefined,
      write: (data: unknown) => written.push(data),
    } as unknown as Socket;
    dispatch({
      allowed: [],
      resolve: () => Promise.resolve(["1.1.1.1"]),
      connect: () => Promise.resolve(inside),
    });
    const webhook = await subscribe("http://rebinding.example/");
    await sample(webhook);
    await expect
      .poll(
        async () => (await getWebhook(db, webhook.accountId, webhook.webhookId))?.recentFailures[0]?.failure,
        LIMIT,
      )
      .toBe("address not allowed");
    expect(written).toEqual([]);
  });

  it("are not notified of a deleted call, and delay the deletion of one until they were", async () => {
    const { db } = current();
    const webhook = await subscribe("https://hooks.example/", { events: ["call.ended"] });
    const callId = await live(webhook.accountId, { settings: { retentionPolicy: "auto_delete" } });
    const due = async (): Promise<boolean> =>
      (await listCallsToDelete(db)).some((call) => call.callId === callId);
    expect(await due()).toBe(false);
    await sql`update webhook_deliveries set status = 'delivered', due_at = null, finished_at = now()`.execute(
      db.query,
    );
    expect(await due()).toBe(true);
    const other = await live(webhook.accountId);
    for (const id of [callId, other]) expect(await deleteCall(db, webhook.accountId, id)).toBe("deleted");
    const left = await deliveriesOf(webhook);
    expect(left.map((row) => row.callId)).toEqual([callId]);
    const requested = redeliver(db, webhook.accountId, webhook.webhookId, left[0]?.deliveryId ?? "");
    expect(await requested).toBe("erased");
    const kept =
      await sql`select 1 from webhook_deliveries where sealed_body is not null or call_record is not null`.execute(
        db.query,
      );
    expect(kept.rows).toEqual([]);
  });
});
