import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import { insertCall } from "./calls.ts";
import { newCall } from "./testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "./testing/databases.ts";
import { listDeliveries } from "./webhook-deliveries.ts";
import {
  claimDeliveries,
  keepBodies,
  keepOutcomes,
  type AttemptOutcome,
  type ClaimedDelivery,
  type ClaimRoom,
} from "./webhook-queue.ts";
import { createWebhook, getWebhook } from "./webhooks.ts";

const ALL = { limit: 100, after: null, direction: "forward" } as const;
const ROOM: ClaimRoom = { total: 100, perReceiver: 100, receivers: new Map() };

function outcomeOf(delivery: ClaimedDelivery, failure: string | null): AttemptOutcome {
  const { deliveryId, attemptId, webhookId } = delivery;
  const attempt = { at: new Date().toISOString(), durationMs: 1, status: null, failure };
  const status = failure === null ? "delivered" : "pending";
  return { deliveryId, attemptId, webhookId, attempt, status, retryInMs: 30_000, isGone: failure !== null };
}

describeOnBothDatabases("claims on deliveries", (current) => {
  afterEach(async () => void (await sql`delete from webhook_deliveries`.execute(current().db.query)));

  const subscribe = async (accountId: string, url = "https://hooks.example/"): Promise<string> => {
    const asked = { url, events: ["call.started"], agentId: null, secrets: [] } as const;
    return (await createWebhook(current().db, accountId, asked)).webhookId;
  };
  /** As if the process that has the claims had stood still. */
  const lapse = async (): Promise<void> => {
    await sql`update webhook_deliveries set due_at = now() where attempt_id is not null`.execute(
      current().db.query,
    );
  };

  it("that were lost say nothing of the delivery, and nothing of the health of its webhook", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const webhookId = await subscribe(accountId);
    for (let calls = 0; calls < 6; calls += 1) await insertCall(db, accountId, newCall());
    const lost = await claimDeliveries(db, ROOM);
    expect(lost).toHaveLength(6);
    expect((await claimDeliveries(db, ROOM)).length).toBe(0);
    await lapse();
    const claimed = await claimDeliveries(db, ROOM);
    expect(claimed).toHaveLength(6);
    const made = lost.map(({ deliveryId, attemptId }) => ({ deliveryId, attemptId, body: "late" }));
    expect(await keepBodies(db, made)).toEqual(new Set());
    await keepOutcomes(
      db,
      lost.map((delivery) => outcomeOf(delivery, "timeout after 10s")),
    );
    const health = async (): Promise<unknown> => {
      const { status, recentFailures, lastStatusChangeAt } =
        (await getWebhook(db, accountId, webhookId)) ?? {};
      return { status, failures: recentFailures?.length, lastStatusChangeAt };
    };
    expect(await health()).toEqual({ status: "normal", failures: 0, lastStatusChangeAt: null });
    // Both in one go, as a process that gets its own lapsed claim again would.
    const [own, ...others] = claimed;
    if (own === undefined) throw new Error("nothing was claimed");
    await keepOutcomes(db, [
      ...lost.map((delivery) => outcomeOf(delivery, "timeout after 10s")),
      ...others.map((delivery) => outcomeOf(delivery, null)),
      outcomeOf(own, "HTTP 410"),
    ]);
    expect(await health()).toMatchObject({ status: "unhealthy", failures: 1 });
    const { rows } = await listDeliveries(db, accountId, webhookId, {}, ALL);
    const shown = rows.map(({ status, attempts }) => `${status}: ${attempts.length}`);
    expect(shown.toSorted((a, b) => a.localeCompare(b))).toEqual([
      ...others.map(() => "delivered: 1"),
      "pending: 1",
    ]);
  });
});
