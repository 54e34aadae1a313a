/** Processes pause for longer than their leases and continue: what others did meanwhile is not changed. */

import { sql } from "kysely";
import { expect, it } from "vitest";
import { getBatch } from "../store/batches/batches.ts";
import { insertCall } from "../store/calls/calls.ts";
import { callsOf, expireClaims, newBatch, statusesOf } from "../store/testing/batches.ts";
import { newCall } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { listDeliveries } from "../store/webhooks/webhook-deliveries.ts";
import { createWebhook, getWebhook } from "../store/webhooks/webhooks.ts";
import { openJobNodes } from "./testing/job-nodes.ts";
import { openReceiver, deliveryOf } from "./testing/receiver.ts";

const LIMIT = { timeout: 60_000, interval: 20 };
const PAGE = { limit: 100, after: null, direction: "forward" } as const;

describeOnBothDatabases("a process that stood still", (current) => {
  it("makes no call twice, and overwrites no outcome", { timeout: 170_000 }, async ({ skip }) => {
    const { db, databaseUrl } = current();
    // The embedded database belongs to one process.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const nodes = openJobNodes(current());
    const held = Promise.withResolvers<number>();
    const receiver = await openReceiver(() => (receiver.received.length <= 20 ? 204 : held.promise));
    const isOver = async ({ accountId, agentId, batchId }: Awaited<ReturnType<typeof newBatch>>) =>
      (await getBatch(db, accountId, agentId, batchId))?.endedAt !== null;
    try {
      const batch = await newBatch(db, callsOf(80), { webhookUrl: receiver.url });
      const still = await nodes.start("unjoined");
      // Sixteen are being sent, as many are claimed behind them.
      await expect.poll(() => receiver.received.length, LIMIT).toBe(36);
      still.standStill();
      const pending = (await statusesOf(db, batch.batchId)).filter((status) => status === "PENDING");
      expect(pending.length).toBeGreaterThan(16);
      await expireClaims(db);
      held.resolve(204);
      const other = await nodes.start("unjoined");
      await expect.poll(() => isOver(batch), LIMIT).toBe(true);
      await other.finish();
      const outcomes = async (): Promise<unknown> =>
        (
          await sql`select position, status, error, call_id, attempts, lapses from scheduled_calls
            where batch_id = ${batch.batchId} order by position`.execute(db.query)
        ).rows;
      const before = await outcomes();
      const counts = await getBatch(db, batch.accountId, batch.agentId, batch.batchId);
      const statuses = await statusesOf(db, batch.batchId);
      expect(statuses.filter((status) => status === "ERROR")).toHaveLength(16);
      expect(statuses.filter((status) => status === "SUCCESS")).toHaveLength(64);
      still.goOn();
      // Only this process is left to make these, and it comes to them after it has reported all others.
      const next = await newBatch(db, callsOf(40), { webhookUrl: receiver.url });
      await expect.poll(() => isOver(next), LIMIT).toBe(true);
      await still.finish();
      expect(await outcomes()).toEqual(before);
      expect(await getBatch(db, batch.accountId, batch.agentId, batch.batchId)).toEqual(counts);
      const made = await sql<{ calls: number; different: number }>`
        select count(*)::int as calls, count(distinct metadata ->> 'n')::int as different from calls
        where agent_id = ${batch.agentId}`.execute(db.query);
      expect(made.rows).toEqual([{ calls: 80, different: 80 }]);
      const notified = receiver.received.map(({ body }) => deliveryOf(body).call.callId);
      expect([notified.length, new Set(notified).size]).toEqual([120, 120]);
    } finally {
      held.resolve(204);
      await nodes.close();
      await receiver.close();
    }
  });

  it("changes nothing of what was delivered without it", { timeout: 240_000 }, async () => {
    const { db, databaseUrl } = current();
    if (databaseUrl === null) return;
    const nodes = openJobNodes(current());
    const held = Promise.withResolvers<number>();
    const receiver = await openReceiver(() => (receiver.received.length <= 8 ? held.promise : 200));
    const subscribe = async (path: string) => {
      const accountId = await newAccount(db);
      const requested = {
        url: `${receiver.url}${path}`,
        events: ["call.started"],
        agentId: null,
        secrets: [],
      } as const;
      return { accountId, ...(await createWebhook(db, accountId, requested)) };
    };
    const deliveries = async ({ accountId, webhookId }: { accountId: string; webhookId: string }) =>
      (await listDeliveries(db, accountId, webhookId, {}, PAGE)).rows;
    try {
      const webhook = await subscribe("first");
      for (let calls = 0; calls < 8; calls += 1) await insertCall(db, webhook.accountId, newCall());
      const still = await nodes.start("unjoined");
      await expect.poll(() => receiver.received.length, LIMIT).toBe(8);
      still.standStill();
      // Moves the times back by 20 s.
      await sql`update webhook_deliveries set due_at = now() where attempt_id is not null`.execute(db.query);
      const other = await nodes.start("unjoined");
      const isTold = async (of: typeof webhook): Promise<boolean> =>
        (await deliveries(of)).every(({ status }) => status === "delivered");
      await expect.poll(() => isTold(webhook), LIMIT).toBe(true);
      await other.finish();
      // The other process reports more failures than make a webhook unhealthy.
      held.resolve(500);
      const before = [await deliveries(webhook), await getWebhook(db, webhook.accountId, webhook.webhookId)];
      still.goOn();
      const later = await subscribe("later");
      await insertCall(db, later.accountId, newCall());
      await expect.poll(() => isTold(later), LIMIT).toBe(true);
      await still.finish();
      const after = [await deliveries(webhook), await getWebhook(db, webhook.accountId, webhook.webhookId)];
      expect(after).toEqual(before);
      expect(after[1]).toMatchObject({ status: "normal", recentFailures: [] });
      const bodies = new Map<string, Set<string>>();
      for (const { body } of receiver.received) {
        const { deliveryId } = deliveryOf(body);
        bodies.set(deliveryId, (bodies.get(deliveryId) ?? new Set()).add(body));
      }
      // Sent twice at most, with the same bytes.
      expect([...bodies.values()].map(({ size }) => size)).toEqual(Array.from({ length: 9 }, () => 1));
      expect(receiver.received).toHaveLength(17);
    } finally {
      held.resolve(500);
      await nodes.close();
      await receiver.close();
    }
  });
});
