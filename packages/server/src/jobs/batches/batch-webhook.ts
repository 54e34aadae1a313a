/** Tells the receiver of a batch of a call that somebody is to be connected to (D172). */

import { setTimeout as sleep } from "node:timers/promises";
import { getCall, type CallRow } from "../../store/calls.ts";
import type { Db } from "../../store/db.ts";
import type { ClaimedBatch, ScheduledPlace } from "../../store/batch-claims.ts";
import { attemptDelivery, type AttemptDeps } from "../webhooks/attempt.ts";
import { deliveryBody } from "../webhooks/body.ts";

export interface TellDeps extends Omit<AttemptDeps, "random"> {
  readonly db: Db;
  /** The Call resource as answers have it. */
  readonly renderCall: (row: CallRow) => unknown;
}

/** After a receiver has failed, nothing else of the batch is made for so long. */
export const FAILED_RECEIVER_WAIT_MS = 30_000;

/** Tries to read the call: a database that is started again is back within some seconds, and the lease lasts 30. */
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
 * One attempt. Gives why it failed, in one line; null: the receiver has acknowledged it. Rejects only with what `signal` was
 * aborted with: nobody knows then whether the receiver was told.
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
  const told = { event: "call.started", webhookId: null, deliveryId: claimId, isSample: false } as const;
  const body = deliveryBody({ ...told, occurredAt: call.createdAt }, deps.renderCall(call));
  const delivery = {
    deliveryId: claimId,
    attemptId: claimId,
    webhookId: null,
    tries: 0,
    target: { url: webhookUrl, secrets: [webhookSecret] },
  };
  // There is no second attempt, so no wait before it has to be drawn.
  const outcome = await attemptDelivery(delivery, body, { ...deps, random: () => 0 }, signal);
  return outcome.attempt.failure;
}
