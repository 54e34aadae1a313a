import { randomBytes, randomUUID } from "node:crypto";
import type { AgeLimits } from "../calls/age-limits.ts";
import { endCall, type CallEnd, type NewCall } from "../calls/calls.ts";
import type { NewMessage } from "../calls/messages.ts";
import type { Db } from "../database/db.ts";

/** A call for tests; `changes` override the defaults. */
export function newCall(changes: Partial<NewCall> = {}): NewCall {
  const createdAtMs = changes.createdAtMs ?? Date.now();
  return {
    callId: randomUUID(),
    agentId: null,
    agentRevisionId: null,
    nodeId: "test node",
    createdAtMs,
    joinDeadlineMs: createdAtMs + 30_000,
    mediumKind: "serverWebSocket",
    joinToken: randomBytes(16).toString("base64url"),
    settings: { systemPrompt: "Say hello.", medium: { serverWebSocket: { inputSampleRate: 16_000 } } },
    plan: { version: 1 },
    metadata: {},
    requestContext: null,
    stage: { stageId: randomUUID(), settings: { systemPrompt: "Say hello.", temperature: 0 } },
    initialMessages: [],
    ...changes,
  };
}

export function newMessage(index: number, changes: Partial<NewMessage> = {}): NewMessage {
  return {
    index,
    role: "user",
    text: `message ${index}`,
    medium: "voice",
    invocationId: null,
    toolName: null,
    errorDetails: null,
    callState: null,
    timespan: { startMs: index * 1000, endMs: index * 1000 + 500 },
    wallClockTimespan: { startMs: index * 1000, endMs: index * 1000 + 500 },
    metadata: {},
    ...changes,
  };
}

export const NO_AGE_LIMITS: AgeLimits = {
  recordingsRetentionDays: null,
  transcriptsRetentionDays: null,
  callsRetentionDays: null,
};

/** Ends a call. False: it had ended before, or does not exist. */
export async function markEnded(db: Db, accountId: string, callId: string, end: CallEnd): Promise<boolean> {
  return (await endCall(db, accountId, callId, end)) !== "ended_before";
}
