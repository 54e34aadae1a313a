/** Call creation over the store and the live calls. */

import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { callInsertion } from "../lifecycle/create/admission.ts";
import type { EndCall } from "../lifecycle/end/ending.ts";
import type { CallStorage } from "../lifecycle/storage.ts";
import type { Config } from "../config/config.ts";
import type { Engines } from "./engines.ts";
import { recogniserNames } from "./recognisers.ts";
import { loadConsultedCall, loadPriorCall } from "../lifecycle/prior-calls.ts";
import type { CreateCall } from "../lifecycle/api.ts";
import { createCallCreator } from "../lifecycle/create/create-call.ts";
import type { LiveCalls, StartOutcome } from "../runner/live-calls.ts";
import type { PrepareDial } from "../lifecycle/create/dialling.ts";
import type { PlanSources } from "../lifecycle/create/prepare-stage.ts";
import { getAgentForCall } from "../store/agents/agents.ts";
import { removeUnstartedCall } from "../store/calls/calls.ts";
import type { Store } from "../store/opening/open-store.ts";
import { findThrottle } from "../store/accounts/throttles.ts";
import { openRemovalRetries } from "../lifecycle/create/removal-retries.ts";

/** 192 bits, URL-safe. */
const TOKEN_BYTES = 24;

export interface CallParts {
  readonly config: Config;
  readonly logger: Logger;
  readonly engines: Engines;
  readonly store: Store;
  readonly sources: PlanSources;
  readonly nodeId: string;
  readonly storage: CallStorage;
  readonly liveCalls: LiveCalls;
  readonly endCall: EndCall;
  readonly prepareDial: PrepareDial;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
}

export function callCreator(parts: CallParts): CreateCall {
  const { config, engines, logger, store, nodeId, liveCalls, storage, sources, endCall, deliver } = parts;
  const { db } = store;
  const removal = (endReason: "system_error" | "unjoined") =>
    openRemovalRetries(async (accountId, callId) => {
      if ((await removeUnstartedCall(db, accountId, callId)) !== "notified") return;
      // Webhooks were notified of its start, so they are notified of its end.
      await endCall(accountId, callId, { endReason, endedAtMs: Date.now() });
    });
  return createCallCreator({
    ...sources,
    loadAgent: (accountId, agentId) => getAgentForCall(db, accountId, agentId),
    loadPriorCall: (accountId, callId) => loadPriorCall(db, accountId, callId),
    loadConsultedCall: (accountId, callId) => loadConsultedCall(db, accountId, callId),
    findThrottle: (accountId, nameOrId) => findThrottle(db, accountId, nameOrId),
    insertCall: callInsertion(db, config),
    removeUnstartedCall: removal("system_error"),
    removeUndialledCall: removal("unjoined"),
    warn: (message, error) => logger.warn({ error: String(error) }, message),
    startCall(plan, start) {
      storage.remember(plan);
      let outcome: StartOutcome | null = null;
      try {
        outcome = liveCalls.startCall(plan, start);
        if (outcome === "started") deliver();
        return outcome;
      } finally {
        if (outcome !== "started") storage.forget(plan.callId);
      }
    },
    async releaseCall(callId) {
      const released = await liveCalls.release(callId);
      if (released) storage.forget(callId);
      return released;
    },
    servesSip: config.sip !== null,
    prepareDial: parts.prepareDial,
    liveCalls: () => liveCalls.count(),
    limits: {
      concurrentCalls: config.maxLiveCalls,
      scheduledCalls: config.maxLiveCalls - config.reservedLiveCalls,
      joinTimeoutMs: config.maxJoinTimeoutMs,
      maxDurationMs: config.maxCallDurationMs,
    },
    nodeId,
    recognisers: () => recogniserNames(engines.stt),
    turnTaking: config.turnTaking,
    randomToken: () => randomBytes(TOKEN_BYTES).toString("base64url"),
    nowMs: Date.now,
  });
}
