/** Notifies the receiver of a batch of a call to connect to a person (D172). */

import { setTimeout as sleep } from "node:timers/promises";
import { getCall, type CallRow } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import type { ClaimedBatch, ScheduledPlace } from "../../store/batches/batch-claims.ts";
import { attemptDelivery, type AttemptDeps } from "../webhooks/attempt.ts";
import { deliveryBody } from "../webhooks/body.ts";

export interface TellDeps extends Omit<AttemptDeps, "random"> {
  readonly db: Db;
  /** The Call resource as answers have it. */
  readonly renderCall: (row: CallRow) => unknown;
}

/** After a receiver has failed, no other call of its batch is created for this time. */
export const FAILED_RECEIVER_WAIT_MS = 30_000;

/** Retries of reading the call: a restarted database is back within some seconds, and the lease lasts 30. */
const READ_TRIES = 15;
const READ_RETRY_MS = 1_000;

async function readCall(
  db: Db,
  accountId: string,
  callId: string,
  signal: AbortSignal,
): Promise<CallRow | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await getCall(db, accountId, callId);
    } catch (error) {
      if (tries >= READ_TRIES) throw error;
      await sleep(READ_RETRY_MS, undefined, { signal });
    }
  }
}

/**
 * One attempt. Returns why it failed, in one line; null: the receiver has acknowledged it. Rejects only with the reason
 * of the abort of `signal`: then it is unknown whether the receiver was notified.
 */
export async function tellOfCall(
  batch: ClaimedBatch,
  { claimId }: ScheduledPlace,
  callId: string,
  deps: TellDeps,
  signal: AbortSignal,
): Promise<string | null> {
  const { accountId, webhookUrl, webhookSecret } = batch;
  if (webhookUrl === null) return "there is no address";
  if (webhookSecret === null) return "the secret of the batch cannot be read";
  const call = await readCall(deps.db, accountId, callId, signal);
  if (call === null) return "the call was deleted";
  const content = { event: "call.started", webhookId: null, deliveryId: claimId, isSample: false } as const;
  const body = deliveryBody({ ...content, occurredAt: call.createdAt }, deps.renderCall(call));
  const delivery = {
    deliveryId: claimId,
    attemptId: claimId,
    webhookId: null,
    tries: 0,
    target: { url: webhookUrl, secrets: [webhookSecret] },
  };
  // There is no second attempt, so no random wait is needed.
  const outcome = await attemptDelivery(delivery, body, { ...deps, random: () => 0 }, signal);
  return outcome.attempt.failure;
}
