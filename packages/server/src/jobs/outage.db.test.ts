/** The database fails for some seconds and recovers: everything continues by itself, and nothing is lost or doubled. */

import { setTimeout as sleep } from "node:timers/promises";
import { WEBHOOK_EVENTS } from "@parley/schema";
import { sql } from "kysely";
import { Client } from "pg";
import { expect, it } from "vitest";
import { getBatch } from "../store/batches/batches.ts";
import { callsOf, newBatch } from "../store/testing/batches.ts";
import { describeOnBothDatabases, type TestStore } from "../store/testing/databases.ts";
import { createWebhook } from "../store/webhooks/webhooks.ts";
import { openJobNodes } from "./testing/job-nodes.ts";
import { openReceiver, deliveryOf } from "./testing/receiver.ts";

const LIMIT = { timeout: 90_000, interval: 100 };
const CALLS = 300;
/** Longer than a restart of a database takes, and than queries are retried at once. */
const OUTAGE_MS = 6_000;
/** Calls whose transaction was being written when the connections broke: as many as are created concurrently. */
const MOST_UNKNOWN = 6;

/** As a restart of the server would, for this database alone. */
async function cutOff({ databaseUrl }: TestStore): Promise<void> {
  const url = new URL(databaseUrl ?? "");
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  const client = new Client({ connectionString: url.href });
  await client.connect();
  try {
    await client.query(`alter database ${name} allow_connections false`);
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
    await sleep(OUTAGE_MS);
  } finally {
    await client.query(`alter database ${name} allow_connections true`);
    await client.end();
  }
}

describeOnBothDatabases("an outage of the database", (current) => {
  it("is over when the database is back", { timeout: 170_000 }, async ({ skip }) => {
    const { db, databaseUrl } = current();
    // The embedded database goes with its process.
    if (databaseUrl === null) {
      skip();
      return;
    }
    const nodes = openJobNodes(current());
    const receiver = await openReceiver(async () => {
      await sleep(20);
      return 204;
    });
    try {
      const batch = await newBatch(db, callsOf(CALLS), { webhookUrl: `${receiver.url}batch` });
      const { accountId, agentId, batchId } = batch;
      await createWebhook(db, accountId, {
        url: `${receiver.url}hook`,
        events: [...WEBHOOK_EVENTS],
        agentId: null,
        secrets: [],
      });
      const node = await nodes.start("live");
      await expect.poll(() => receiver.received.length, LIMIT).toBeGreaterThan(CALLS / 3);
      await cutOff(current());
      const isOver = async (): Promise<boolean> => {
        // What failed is retried after half a minute.
        await sql`update scheduled_calls set due_at = now() where status = 'FUTURE' and due_at > now()`.execute(
          db.query,
        );
        await sql`update scheduled_batches set turn_at = '-infinity' where hidden_until is null`.execute(
          db.query,
        );
        return (await getBatch(db, accountId, agentId, batchId))?.endedAt !== null;
      };
      await expect.poll(isOver, LIMIT).toBe(true);
      const pending = async (): Promise<unknown> =>
        (
          await sql`select (select count(*)::int from webhook_deliveries where status <> 'delivered') as deliveries,
            (select count(*)::int from calls where ended_at is not null and billing_status = 'PENDING') as calls`.execute(
            db.query,
          )
        ).rows;
      await expect.poll(pending, LIMIT).toEqual([{ deliveries: 0, calls: 0 }]);
      await node.finish();

      const outcomes = await sql<{ status: string; error: string | null; calls: number }>`
        select status, error, count(*)::int as calls from scheduled_calls where batch_id = ${batchId} group by 1, 2`.execute(
        db.query,
      );
      const successes = outcomes.rows.find(({ status }) => status === "SUCCESS")?.calls ?? 0;
      const others = outcomes.rows.filter(({ status }) => status !== "SUCCESS");
      for (const { error } of others) expect(error).toContain("outcome unknown");
      expect(successes).toBeGreaterThanOrEqual(CALLS - MOST_UNKNOWN);
      const twice = await sql`select metadata ->> 'n' as n from calls where agent_id = ${agentId}
        group by 1 having count(*) > 1`.execute(db.query);
      expect(twice.rows).toEqual([]);
      const events = new Map<string, string[]>();
      for (const { body, path } of receiver.received) {
        if (path !== "/hook") continue;
        const { call, event } = deliveryOf(body);
        const notified = events.get(call.callId) ?? [];
        // What was acknowledged while it could not be stored is sent again.
        if (!notified.includes(event)) events.set(call.callId, [...notified, event]);
      }
      const calls = await sql<{ id: string; ended: boolean }>`
        select id, ended_at is not null as ended from calls where agent_id = ${agentId}`.execute(db.query);
      for (const { id, ended } of calls.rows) {
        expect(events.get(id)).toEqual(ended ? [...WEBHOOK_EVENTS] : ["call.started"]);
      }
      expect(calls.rows.filter(({ ended }) => !ended).length).toBeLessThanOrEqual(MOST_UNKNOWN);
    } finally {
      await nodes.close();
      await receiver.close();
    }
  });
});
