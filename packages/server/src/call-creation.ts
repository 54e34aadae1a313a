/** Call creation over the store and the live calls. */

import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { callInsertion } from "./call-admission.ts";
import type { EndCall } from "./call-ending.ts";
import type { CallStorage } from "./call-storage.ts";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import { loadPriorCall } from "./prior-calls.ts";
import { createCallCreator, type CreateCall } from "./runner/create-call.ts";
import type { LiveCalls } from "./runner/live-calls.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import { getAgentForCall } from "./store/agents.ts";
import { withdrawCall } from "./store/calls.ts";
import type { Store } from "./store/db.ts";
import { findThrottle } from "./store/throttles.ts";
import { openWithdrawals } from "./withdrawals.ts";

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
  /** Webhooks may have something to be told. */
  readonly deliver: () => void;
}

export function callCreator(parts: CallParts): CreateCall {
  const { config, engines, logger, store, nodeId, liveCalls, storage, sources, endCall, deliver } = parts;
  const { db } = store;
  return createCallCreator({
    ...sources,
    loadAgent: (accountId, agentId) => getAgentForCall(db, accountId, agentId),
    loadPriorCall: (accountId, callId) => loadPriorCall(db, accountId, callId),
    findThrottle: (accountId, nameOrId) => findThrottle(db, accountId, nameOrId),
    insertCall: callInsertion(db, config),
    withdrawCall: openWithdrawals(async (accountId, callId) => {
      if ((await withdrawCall(db, accountId, callId)) !== "told") return;
      // Who was told of its start is told of its end.
      await endCall(accountId, callId, {
        endReason: "system_error",
        endedAtMs: Date.now(),
        latestInputTokens: null,
      });
    }),
    warn: (message, error) => logger.warn({ error: String(error) }, message),
    startCall(plan, start) {
      storage.remember(plan);
      try {
        liveCalls.startCall(plan, start);
        deliver();
      } catch (error) {
        storage.forget(plan.callId);
        throw error;
      }
    },
    liveCalls: () => liveCalls.count(),
    limits: {
      concurrentCalls: config.maxLiveCalls,
      scheduledCalls: config.maxLiveCalls - config.liveCallsKeptFree,
      joinTimeoutMs: config.maxJoinTimeoutMs,
      maxDurationMs: config.maxCallDurationMs,
    },
    nodeId,
    recognisers: () => [engines.stt.name],
    turnTaking: config.turnTaking,
    randomToken: () => randomBytes(TOKEN_BYTES).toString("base64url"),
    nowMs: Date.now,
  });
}
