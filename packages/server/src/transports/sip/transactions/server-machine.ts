/** Server transactions (RFC 3261, 17.2; RFC 6026), as a pure function of events. */

import { T1_MS, T2_MS, T4_MS, TRANSACTION_MS, type TimerName } from "./timers.ts";

export interface ServerState {
  readonly phase: "proceeding" | "accepted" | "completed" | "confirmed" | "ended";
  readonly isInvite: boolean;
  readonly isReliable: boolean;
  /** Refusals are repeated until the ACK. Else only a repeated request gets them again. */
  readonly isRepeated: boolean;
  readonly intervalMs: number;
  /** Whether a response was given, which a repeated request gets again. */
  readonly hasResponse: boolean;
}

export type ServerEvent =
  /** The same request came once more. */
  | { readonly type: "repeated" }
  /** Its user answers. A 200 to an INVITE is repeated by the user, until the ACK. */
  | { readonly type: "answered"; readonly status: number }
  /** The ACK with the branch of the INVITE. */
  | { readonly type: "acknowledged" }
  | { readonly type: "fired"; readonly timer: TimerName };

export type ServerEffect =
  /** The response that was given last. */
  | { readonly type: "sendResponse" }
  | { readonly type: "setTimer"; readonly timer: TimerName; readonly afterMs: number }
  | { readonly type: "clearTimer"; readonly timer: TimerName }
  /** ACK of a 200 from a peer that does not give it a branch of its own. */
  | { readonly type: "deliverAck" }
  | { readonly type: "end" };

export interface ServerStep {
  readonly state: ServerState;
  readonly effects: readonly ServerEffect[];
}

/**
 * @param isKnown sources that are not known may be forged, and the eleven copies of a refusal would go to whom they name
 */
export function newServer(isInvite: boolean, isReliable: boolean, isKnown: boolean): ServerState {
  const isRepeated = !isReliable && isKnown;
  return { phase: "proceeding", isInvite, isReliable, isRepeated, intervalMs: T1_MS, hasResponse: false };
}

export function stepServer(state: ServerState, event: ServerEvent): ServerStep {
  switch (event.type) {
    case "repeated": {
      const isAnswered = state.hasResponse && (state.phase === "proceeding" || state.phase === "completed");
      return { state, effects: isAnswered ? [{ type: "sendResponse" }] : [] };
    }
    case "answered":
      return answer(state, event.status);
    case "acknowledged":
      return acknowledge(state);
    case "fired":
    default:
      return fire(state, event.timer);
  }
}

function answer(state: ServerState, status: number): ServerStep {
  const send: ServerEffect = { type: "sendResponse" };
  const isSuccess = status >= 200 && status < 300;
  if (state.phase === "accepted") return { state, effects: isSuccess ? [send] : [] };
  if (state.phase !== "proceeding") return { state, effects: [] };
  const answered = { ...state, hasResponse: true };
  if (status < 200) return { state: answered, effects: [send] };
  if (!state.isInvite) return completeOther(answered);
  if (isSuccess) {
    const effects: ServerEffect[] = [send, { type: "setTimer", timer: "L", afterMs: TRANSACTION_MS }];
    return { state: { ...answered, phase: "accepted" }, effects };
  }
  const effects: ServerEffect[] = [send, { type: "setTimer", timer: "H", afterMs: TRANSACTION_MS }];
  if (state.isRepeated) effects.push({ type: "setTimer", timer: "G", afterMs: T1_MS });
  return { state: { ...answered, phase: "completed" }, effects };
}

function completeOther(state: ServerState): ServerStep {
  if (state.isReliable) {
    return { state: { ...state, phase: "ended" }, effects: [{ type: "sendResponse" }, { type: "end" }] };
  }
  const effects: ServerEffect[] = [
    { type: "sendResponse" },
    { type: "setTimer", timer: "J", afterMs: TRANSACTION_MS },
  ];
  return { state: { ...state, phase: "completed" }, effects };
}

function acknowledge(state: ServerState): ServerStep {
  if (!state.isInvite) return { state, effects: [] };
  if (state.phase === "accepted") return { state, effects: [{ type: "deliverAck" }] };
  if (state.phase !== "completed") return { state, effects: [] };
  if (state.isReliable) return { state: { ...state, phase: "ended" }, effects: [{ type: "end" }] };
  const effects: ServerEffect[] = [
    { type: "clearTimer", timer: "G" },
    { type: "clearTimer", timer: "H" },
    { type: "setTimer", timer: "I", afterMs: T4_MS },
  ];
  return { state: { ...state, phase: "confirmed" }, effects };
}

function fire(state: ServerState, timer: TimerName): ServerStep {
  if (timer === "G") {
    if (state.phase !== "completed") return { state, effects: [] };
    const intervalMs = Math.min(state.intervalMs * 2, T2_MS);
    return {
      state: { ...state, intervalMs },
      effects: [{ type: "sendResponse" }, { type: "setTimer", timer, afterMs: intervalMs }],
    };
  }
  return { state: { ...state, phase: "ended" }, effects: [{ type: "end" }] };
}
