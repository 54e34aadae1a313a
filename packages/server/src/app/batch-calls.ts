/** Binds the dispatcher of batches to the creation of calls. */

import { headerPrefixes } from "@parley/schema";
import type { Logger } from "pino";
import { callRenderer } from "../lifecycle/resource.ts";
import type { Config } from "../config/config.ts";
import { openDialledCalls } from "../jobs/batches/dialled-calls.ts";
import { openBatchDispatcher, type BatchDispatcher } from "../jobs/batches/dispatcher.ts";
import type { Metrics } from "./metrics.ts";
import type { GuardedClient } from "../net/guarded-fetch.ts";
import type { CreateCall } from "../lifecycle/api.ts";
import { messageOf } from "../pacing/error-text.ts";
import type { CallReach } from "./directory/call-reach.ts";
import type { Store } from "../store/opening/open-store.ts";

export interface BatchParts {
  readonly config: Pick<Config, "apiNames" | "sipHost">;
  readonly client: GuardedClient;
  /** Called for each use: with a free port it is known once the server listens. */
  readonly publicUrl: () => string;
  readonly store: Pick<Store, "db">;
  readonly reach: Pick<CallReach, "endUnjoined">;
  readonly metrics: Pick<Metrics, "batches">;
  readonly logger: Logger;
}

export function openBatches(
  { config, client, publicUrl, store, reach, metrics, logger }: BatchParts,
  createCall: CreateCall,
): BatchDispatcher {
  return openBatchDispatcher({
    db: store.db,
    createCall,
    outgoing: openDialledCalls({ db: store.db, createCall, dialsSip: config.sipHost !== null }),
    endUnjoined(callId) {
      reach.endUnjoined(callId).catch((error: unknown) => {
        // Its join timeout ends it.
        logger.warn(
          { callId, error: messageOf(error) },
          "a call of a batch could not be ended before its join",
        );
      });
    },
    client,
    renderCall: callRenderer(config, publicUrl),
    prefixes: headerPrefixes(config.apiNames),
    metrics: metrics.batches,
    log: logger,
    nowMs: Date.now,
  });
}
