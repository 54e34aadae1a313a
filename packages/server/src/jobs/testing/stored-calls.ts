/** Creates calls for processes of tests: written as the service writes them, limits included, and not run. */

import { callInsertion } from "../../call-admission.ts";
import type { CreateCall } from "../../runner/create-call.ts";
import { withdrawCall } from "../../store/calls.ts";
import type { Db } from "../../store/db.ts";
import { newCall } from "../../store/testing/calls.ts";
import { findThrottle } from "../../store/throttles.ts";

export function storedCallCreator(db: Db): CreateCall {
  const insertCall = callInsertion(db, { callsPerSecondPerAccount: null, callsPerMinutePerAccount: null });
  return async ({ accountId, agentId, request, query, scheduled }) => {
    const found = query.throttle === undefined ? null : await findThrottle(db, accountId, query.throttle);
    const throttleId = found === null || typeof found === "string" ? null : found.throttleId;
    const call = newCall({ agentId, metadata: request.metadata ?? {} });
    const record = { ...call, mediumKind: "serverWebSocket", voiceId: null, requestContext: null } as const;
    const outcome = await insertCall(
      accountId,
      record as unknown as Parameters<typeof insertCall>[1],
      throttleId,
      scheduled ?? null,
    ).catch(async (error: unknown) => {
      await withdrawCall(db, accountId, call.callId).catch(() => undefined);
      throw error;
    });
    if (outcome === "inserted") return { callId: call.callId };
    throw typeof outcome === "string" ? new Error(outcome) : outcome;
  };
}
