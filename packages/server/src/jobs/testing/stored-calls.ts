/** Creates calls for processes of tests: written as the service writes them, limits included, and not run. */

import { callInsertion } from "../../lifecycle/create/admission.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import { removeUnstartedCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { newCall } from "../../store/testing/calls.ts";
import { findThrottle } from "../../store/accounts/throttles.ts";

export function storedCallCreator(db: Db): CreateCall {
  const insertCall = callInsertion(db, { callsPerSecondPerAccount: null, callsPerMinutePerAccount: null });
  return async ({ accountId, agentId, request, query, scheduled }) => {
    const found = query.throttle === undefined ? null : await findThrottle(db, accountId, query.throttle);
    const throttleId = found === null || typeof found === "string" ? null : found.throttleId;
    const call = newCall({ agentId, metadata: request.metadata ?? {} });
    const record = { ...call, mediumKind: "serverWebSocket", voiceId: null, requestContext: null };
    const outcome = await insertCall(accountId, record, throttleId, scheduled ?? null).catch(
      async (error: unknown) => {
        await removeUnstartedCall(db, accountId, call.callId).catch(() => undefined);
        throw error;
      },
    );
    return outcome === "inserted" ? { kind: "created", callId: call.callId } : outcome;
  };
}
