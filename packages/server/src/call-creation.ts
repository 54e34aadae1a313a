/** Call creation over the store and the live calls. */

import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { CallStorage } from "./call-storage.ts";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import { loadPriorCall } from "./prior-calls.ts";
import { createCallCreator, type CreateCall } from "./runner/create-call.ts";
import type { LiveCalls } from "./runner/live-calls.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import { getAgentForCall } from "./store/agents.ts";
import { insertCall, withdrawCall } from "./store/calls.ts";
import type { Store } from "./store/db.ts";
import { AgentGoneError } from "./store/store-errors.ts";

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
}

export function callCreator(parts: CallParts): CreateCall {
  const { config, engines, logger, store, nodeId, liveCalls, storage, sources } = parts;
  const { db } = store;
  return createCallCreator({
    ...sources,
    loadAgent: (accountId, agentId) => getAgentForCall(db, accountId, agentId),
    loadPriorCall: (accountId, callId) => loadPriorCall(db, accountId, callId),
    async insertCall(accountId, call) {
      try {
        await insertCall(db, accountId, call);
        return "inserted";
      } catch (error) {
        if (error instanceof AgentGoneError) return "agent_gone";
        throw error;
      }
    },
    withdrawCall: (accountId, callId) => withdrawCall(db, accountId, callId),
    warn: (message, error) => logger.warn({ error: String(error) }, message),
    startCall(plan, start) {
      storage.remember(plan);
      try {
        liveCalls.startCall(plan, start);
      } catch (error) {
        storage.forget(plan.callId);
        throw error;
      }
    },
    liveCalls: () => liveCalls.count(),
    limits: {
      concurrentCalls: config.maxLiveCalls,
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
