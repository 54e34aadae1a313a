/** One attempt to deliver: a signed POST by the guarded client. */

import type { HeaderPrefix } from "@parley/schema";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { AttemptOutcome, ClaimedDelivery } from "../../store/webhooks/webhook-queue.ts";
import { failureLine, statusLine } from "./failure-line.ts";
import { retryWaitMs } from "./retries.ts";
import { deliveryHeaders } from "./signature.ts";

/** Limit of the whole attempt, DNS look-up and answer included (D157). */
export const ATTEMPT_LIMIT_MS = 10_000;
/** Limit of the answer, which is not used. */
const MAX_ANSWER_BYTES = 4_096;
/** The receiver says that it is permanently gone. */
const GONE = 410;

export interface AttemptDeps {
  readonly client: Pick<GuardedClient, "request">;
  readonly prefixes: readonly HeaderPrefix[];
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

export type Prepared = Pick<ClaimedDelivery, "deliveryId" | "attemptId" | "webhookId" | "tries" | "target">;

/** Rejects only with the reason of the abort of `signal`: such an attempt was not completed. */
export async function attemptDelivery(
  delivery: Prepared,
  body: string,
  deps: AttemptDeps,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const atMs = deps.nowMs();
  const { target, deliveryId } = delivery;
  if (target === null)
    return outcomeOf(delivery, deps, atMs, { status: null, failure: "there is no address" });
  const headers = {
    "content-type": "application/json",
    "user-agent": "Parley-Webhooks/1",
    ...deliveryHeaders({ deliveryId, body, secrets: target.secrets, atMs }, deps.prefixes),
  };
  try {
    const answer = await deps.client.request(
      {
        url: target.url,
        method: "POST",
        headers,
        body,
        timeoutMs: ATTEMPT_LIMIT_MS,
        maxBodyBytes: MAX_ANSWER_BYTES,
      },
      signal,
    );
    const { status } = answer;
    const acknowledged = status >= 200 && status < 300;
    return outcomeOf(delivery, deps, atMs, { status, failure: acknowledged ? null : statusLine(status) });
  } catch (error) {
    signal.throwIfAborted();
    return outcomeOf(delivery, deps, atMs, { status: null, failure: failureLine(error) });
  }
}

/** For a delivery that cannot be sent at all, whatever the receiver does. */
export function unsendable(delivery: Prepared, failure: string, nowMs: number): AttemptOutcome {
  const attempt = { at: new Date(nowMs).toISOString(), durationMs: 0, status: null, failure };
  return { ...idsOf(delivery), attempt, status: "failed", retryInMs: null, isGone: false };
}

function outcomeOf(
  delivery: Prepared,
  { nowMs, random }: AttemptDeps,
  atMs: number,
  { status, failure }: { readonly status: number | null; readonly failure: string | null },
): AttemptOutcome {
  const durationMs = Math.max(0, Math.round(nowMs() - atMs));
  const attempt = { at: new Date(atMs).toISOString(), durationMs, status, failure };
  const isGone = status === GONE;
  const retryInMs =
    failure === null || isGone || delivery.target === null ? null : retryWaitMs(delivery.tries + 1, random());
  const state = failure === null ? "delivered" : retryInMs === null ? "failed" : "pending";
  return { ...idsOf(delivery), attempt, status: state, retryInMs, isGone };
}

function idsOf({
  deliveryId,
  attemptId,
  webhookId,
}: Prepared): Pick<AttemptOutcome, "deliveryId" | "attemptId" | "webhookId"> {
  return { deliveryId, attemptId, webhookId };
}
