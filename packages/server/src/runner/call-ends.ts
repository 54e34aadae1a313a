/** The ends of a call that the engine does not decide, and the close codes of its connections. */

import type { EffectOf } from "../call/effects.ts";

export type EndCall = Omit<EffectOf<"endCall">, "type">;

export const CODES = { regular: 1000, wrongData: 1007, failure: 1011, restarting: 1012 } as const;

const ENDED_BY_REQUEST: EndCall = {
  reason: "hangup",
  closeCode: CODES.regular,
  detail: "ended by request",
};

export function failedEnd(detail: string): EndCall {
  return { reason: "system_error", closeCode: CODES.failure, detail };
}

const STOPPING: EndCall = failedEnd("the service is stopping");

export function endOfRequest(cause: "hangup" | "shutdown"): EndCall {
  return cause === "hangup" ? ENDED_BY_REQUEST : STOPPING;
}

/** After a reported fault the engine has this long to end the call itself. */
export const FAULT_LIMIT_MS = 500;
/** The same after a request to end the call. */
export const END_LIMIT_MS = 2_000;
