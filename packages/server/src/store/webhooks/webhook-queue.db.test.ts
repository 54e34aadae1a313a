import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import { insertCall, markJoined } from "../calls/calls.ts";
import { markEnded, newCall } from "../testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { listDeliveries } from "./webhook-deliveries.ts";
import {
  claimDeliveries,
  storeBodies,
  storeOutcomes,
  type AttemptOutcome,
  type ClaimedDelivery,
  type ClaimRoom,
} from "./webhook-queue.ts";
import { createWebhook, getWebhook } from "./webhooks.ts";

const ALL = { limit: 100, after: null, direction: "forward" } as const;
const ROOM: ClaimRoom = {
  total: 100,
  perReceiver: 100,
  receivers: new Map(),
  perAccount: 100,
  accounts: new Map(),
};

function outcomeOf(delivery: ClaimedDelivery, failure: string | null): AttemptOutcome {
  const { deliveryId, attemptId, webhookId } = delivery;
  const attempt = { at: new Date().toISOString(), durationMs: 1, status: null, failure };
  const status = failure === null ? "delivered" : "pending";
  return { deliveryId, attemptId, webhookId, attempt, status, retryInMs: 30_000, isGone: failure !== null };
}

describeOnBothDatabases("claims on deliveries", (current) => {
  afterEach(async () => void (await sql`delete from webhook_deliveries`.execute(current().db.query)));

  const subscribe = async (accountId: string, url = "https://hooks.example/"): Promise<string> => {
    const requested = { url, events: ["call.started"], agentId: null, secrets: [] } as const;
    return (await createWebhook(current().db, accountId, requested)).webhookId;
  };
  /** As if the process with the claims had been suspended. A minute ago, because the clock of a machine can be set back. */
  const expire = async (): Promise<void> => {
    await sql`update webhook_deliveries set due_at = now() - interval '1 minute' where attempt_id is not null`.execute(
      current().db.query,
    );
  };

  it("leave room to other accounts, however many receivers one has", async () => {
    const { db } = current();
    const [greedy, other] = [await newAccount(db), await newAccount(db)];
    for (let webhooks = 0; webhooks < 5; webhooks += 1) await subscribe(greedy);
    await subscribe(other);
    for (const accountId of [greedy, greedy, other]) await insertCall(db, accountId, newCall());
    const claim = async (accounts: [string, number][], perAccount = 3): Promise<[number, number]> => {
      const claimed = await claimDeliveries(db, { ...ROOM, perAccount, accounts: new Map(accounts) });
      const of = (id: string): number => claimed.filter(({ accountId }) => accountId === id).length;
      return [of(greedy), of(other)];
    };
    expect(await claim([[other, 0]])).toEqual([3, 0]);
    expect(await claim([[greedy, 0]])).toEqual([0, 1]);
    expect(await claim([[greedy, 2]])).toEqual([2, 0]);
    expect(await claim([], 100)).toEqual([5, 0]);
  });

  it("keep the order of a call's callbacks, also where they go to several hosts", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const callbacks = { joined: { url: "https://one.example/" }, ended: { url: "https://two.example/" } };
    const call = newCall({ settings: { callbacks } });
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: Date.now(), clientVersion: null });
    const end = { endReason: "hangup", endedAtMs: Date.now() + 1_000 } as const;
    await markEnded(db, accountId, call.callId, end);
    const claimed = async (): Promise<string[]> => {
      const some = await claimDeliveries(db, ROOM);
      const outcomes = some.map((delivery) => outcomeOf(delivery, null));
      await storeOutcomes(db, outcomes);
      return some.map(({ event }) => event);
    };
    expect([await claimed(), await claimed(), await claimed()]).toEqual([
      ["call.joined"],
      ["call.ended"],
      [],
    ]);
  });

  it("that were lost say nothing of the delivery, and nothing of the health of its webhook", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const webhookId = await subscribe(accountId);
    for (let calls = 0; calls < 6; calls += 1) await insertCall(db, accountId, newCall());
    const lost = await claimDeliveries(db, ROOM);
    expect(lost).toHaveLength(6);
    expect((await claimDeliveries(db, ROOM)).length).toBe(0);
    await expire();
    const claimed = await claimDeliveries(db, ROOM);
    expect(claimed).toHaveLength(6);
    const made = lost.map(({ deliveryId, attemptId }) => ({ deliveryId, attemptId, body: "late" }));
    expect(await storeBodies(db, made)).toEqual(new Set());
    await storeOutcomes(
      db,
      lost.map((delivery) => outcomeOf(delivery, "timeout after 10s")),
    );
    const health = async (): Promise<unknown> => {
      const { status, recentFailures, lastStatusChangeAt } =
        (await getWebhook(db, accountId, webhookId)) ?? {};
      return { status, failures: recentFailures?.length, lastStatusChangeAt };
    };
    expect(await health()).toEqual({ status: "normal", failures: 0, lastStatusChangeAt: null });
    // Both in one call, as by a process that claims its own expired delivery again.
    const [own, ...others] = claimed;
    if (own === undefined) throw new Error("nothing was claimed");
    await storeOutcomes(db, [
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
