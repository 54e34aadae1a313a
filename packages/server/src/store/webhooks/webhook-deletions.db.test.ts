import { sql } from "kysely";
import { expect, it } from "vitest";
import { insertCall } from "../calls/calls.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { createSampleDelivery, eraseLogOfDeletedWebhook, redeliver } from "./webhook-deliveries.ts";
import { claimDeliveries } from "./webhook-queue.ts";
import { createWebhook, deleteWebhook } from "./webhooks.ts";

const ROOM = { total: 100, perReceiver: 100, receivers: new Map(), perAccount: 100, accounts: new Map() };
const CALLS = 5;

describeOnBothDatabases("the deletion of a webhook", (current) => {
  async function notified(db: Db): Promise<{ readonly accountId: string; readonly webhookId: string }> {
    const accountId = await newAccount(db);
    const webhook = {
      events: ["call.started"],
      agentId: null,
      secrets: [],
      url: "http://127.0.0.1:1/",
    } as const;
    const { webhookId } = await createWebhook(db, accountId, webhook);
    for (let count = 0; count < CALLS; count += 1) await insertCall(db, accountId, newCall());
    return { accountId, webhookId };
  }
  async function statuses(db: Db, webhookId: string): Promise<string[]> {
    const read = await sql<{ status: string }>`
      select status from webhook_deliveries where webhook_id = ${webhookId} order by status`.execute(
      db.query,
    );
    return read.rows.map(({ status }) => status);
  }

  it("drops what waits at once, and its log afterwards, in portions", async () => {
    const { db } = current();
    const kept = await notified(db);
    const gone = await notified(db);
    await sql`update webhook_deliveries set status = 'delivered', due_at = null, finished_at = now()
      where id in (select id from webhook_deliveries where webhook_id = ${gone.webhookId} limit 2)`.execute(
      db.query,
    );
    expect(await deleteWebhook(db, gone.accountId, gone.webhookId)).toBe(true);
    expect(await deleteWebhook(db, gone.accountId, gone.webhookId)).toBe(false);
    expect(await statuses(db, gone.webhookId)).toEqual(["delivered", "delivered"]);
    let portions = 0;
    while (portions < 10 && (await eraseLogOfDeletedWebhook(db))) portions += 1;
    expect(portions).toBe(2);
    expect(await statuses(db, gone.webhookId)).toEqual([]);
    expect(await statuses(db, kept.webhookId)).toEqual(Array(CALLS).fill("pending"));
  });

  it("takes along what a call is just telling it", async () => {
    const { db, kind } = current();
    const { accountId, webhookId } = await notified(db);
    let deletion: Promise<boolean> = Promise.resolve(false);
    await inTransaction(db, async (tx) => {
      await insertCall(tx, accountId, newCall());
      deletion = deleteWebhook(db, accountId, webhookId);
      // On the embedded database it waits for this transaction as a whole.
      if (kind === "postgresql") await untilItWaits(db);
    });
    expect(await deletion).toBe(true);
    expect(await statuses(db, webhookId)).toEqual([]);
  });

  it("leaves nothing that could be sent again", async () => {
    const { db } = current();
    const { accountId, webhookId } = await notified(db);
    const [delivery] = (await claimDeliveries(db, ROOM)).filter((claimed) => claimed.webhookId === webhookId);
    const deliveryId = delivery?.deliveryId ?? "";
    await sql`update webhook_deliveries set status = 'delivered', due_at = null, finished_at = now(), attempt_id = null
      where id = ${deliveryId}`.execute(db.query);
    await deleteWebhook(db, accountId, webhookId);
    expect(await redeliver(db, accountId, webhookId, deliveryId)).toBe("not_found");
    expect(await statuses(db, webhookId)).toEqual(["delivered"]);
    const sample = { ...newCall(), id: deliveryId } as unknown as Parameters<typeof createSampleDelivery>[4];
    expect(await createSampleDelivery(db, accountId, webhookId, "call.ended", sample)).toBeNull();
  });
});

/** Waits until a statement of this database waits for a lock. */
async function untilItWaits(db: Db): Promise<void> {
  await expect
    .poll(
      async () => {
        const waiting = await sql`select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db.query);
        return waiting.rows.length;
      },
      { timeout: 10_000 },
    )
    .toBeGreaterThan(0);
}
