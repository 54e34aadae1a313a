/** The ends of a call that the engine does not decide, and the close codes of its connections. */

import type { EffectOf } from "../call/effects.ts";

export type EndCall = Omit<EffectOf<"endCall">, "type">;

export const CODES = { regular: 1000, wrongData: 1007, failure: 1011 } as const;

export const ENDED_BY_REQUEST: EndCall = {
  reason: "hangup",
  closeCode: CODES.regular,
  detail: "ended by request",
};

export function failedEnd(detail: string): EndCall {
  return { reason: "system_error", closeCode: CODES.failure, detail };
}

export const STOPPING: EndCall = failedEnd("the service is stopping");
