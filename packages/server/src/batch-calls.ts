/** Batches that act: their dispatcher over the creation of calls. */

import { ApiError } from "@parley/schema";
import type { Logger } from "pino";
import { callRenderer } from "./call-rendering.ts";
import type { Config } from "./config.ts";
import type { CreateScheduledCall, CreationOutcome } from "./jobs/batches/attempt.ts";
import { openBatchDispatcher, type BatchDispatcher } from "./jobs/batches/dispatcher.ts";
import { headerPrefixes } from "./jobs/webhooks/signature.ts";
import type { Metrics } from "./metrics.ts";
import { openGuardedClient } from "./net/guarded-fetch.ts";
import type { CreateCall } from "./runner/create-call.ts";
import type { LiveCalls } from "./runner/live-calls.ts";
import type { Store } from "./store/db.ts";
import { CallNotAdmittedError, ClaimLostError, StoreBusyError } from "./store/store-errors.ts";
import { noOutgoingMedia } from "./transports/outgoing/no-outgoing-media.ts";

export interface BatchParts {
  readonly config: Pick<Config, "allowPrivateTargets" | "apiNames">;
  readonly store: Pick<Store, "db">;
  readonly liveCalls: Pick<LiveCalls, "endUnjoined">;
  readonly metrics: Pick<Metrics, "batches">;
  readonly logger: Logger;
}

/** `publicUrl` is asked each time: with a free port it is known late. */
export function openBatches(
  { config, store, liveCalls, metrics, logger }: BatchParts,
  createCall: CreateCall,
  publicUrl: () => string,
): BatchDispatcher {
  return openBatchDispatcher({
    db: store.db,
    createCall: scheduledCallCreator(createCall),
    outgoing: noOutgoingMedia,
    endUnjoined: (callId) => void liveCalls.endUnjoined(callId),
    client: openGuardedClient({ allowed: config.allowPrivateTargets }),
    renderCall: callRenderer(config, publicUrl),
    prefixes: headerPrefixes(config.apiNames),
    metrics: metrics.batches,
    log: logger,
    nowMs: Date.now,
  });
}

export function scheduledCallCreator(createCall: CreateCall): CreateScheduledCall {
  return async ({ accountId, agentId, request, throttle, scheduled }) => {
    try {
      const query = throttle === null ? {} : { throttle };
      const { callId } = await createCall({ accountId, agentId, request, query, scheduled });
      return { kind: "created", callId };
    } catch (error) {
      return notCreated(error);
    }
  };
}

/** The database has more to do than it can; that passes within a second or two. */
const BUSY_WAIT_MS = 1_000;
/** Where nothing says how long a limit will hold. */
const USUAL_WAIT_MS = 5_000;

function notCreated(error: unknown): CreationOutcome {
  if (error instanceof StoreBusyError) return { kind: "later", waitMs: BUSY_WAIT_MS, of: "node" };
  if (!(error instanceof ApiError)) throw error;
  const { cause, code, detail, retryAfterSeconds } = error;
  if (cause instanceof ClaimLostError) return { kind: "lost" };
  const saidMs = retryAfterSeconds === undefined ? USUAL_WAIT_MS : retryAfterSeconds * 1000;
  if (code === "no_capacity") return { kind: "later", waitMs: saidMs, of: "node" };
  if (code === "rate_limited") {
    // The answer to a request tells whole seconds.
    const waitMs = cause instanceof CallNotAdmittedError ? cause.waitMs : saidMs;
    return { kind: "later", waitMs: Math.max(1, waitMs), of: "batch" };
  }
  return { kind: "refused", reason: detail };
}
