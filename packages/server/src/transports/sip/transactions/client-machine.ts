/**
 * Client transactions (RFC 3261, 17.1; RFC 6026): what is sent and when, as a pure function of events. Time comes in as
 * the timers that fire.
 */

import { T1_MS, T2_MS, T4_MS, TIMER_D_MS, TRANSACTION_MS, type TimerName } from "./timers.ts";

export interface ClientState {
  readonly phase: "new" | "trying" | "proceeding" | "accepted" | "completed" | "ended";
  readonly isInvite: boolean;
  /** TCP and TLS: nothing is repeated. */
  readonly isReliable: boolean;
  /** Until the next retransmission. */
  readonly intervalMs: number;
}

export type ClientEvent =
  | { readonly type: "begun" }
  | { readonly type: "responded"; readonly status: number }
  | { readonly type: "fired"; readonly timer: TimerName }
  | { readonly type: "transportFailed" };

export type ClientEffect =
  | { readonly type: "sendRequest" }
  /** For a refused INVITE, to the address of the request. */
  | { readonly type: "sendAck" }
  | { readonly type: "setTimer"; readonly timer: TimerName; readonly afterMs: number }
  /** The response goes to the user of the transaction. */
  | { readonly type: "deliver" }
  | { readonly type: "reportTimeout" }
  | { readonly type: "reportUnreachable" }
  /** All timers are cleared and the transaction is forgotten. */
  | { readonly type: "end" };

export interface ClientStep {
  readonly state: ClientState;
  readonly effects: readonly ClientEffect[];
}

export function newClient(isInvite: boolean, isReliable: boolean): ClientState {
  return { phase: "new", isInvite, isReliable, intervalMs: T1_MS };
}

export function stepClient(state: ClientState, event: ClientEvent): ClientStep {
  switch (event.type) {
    case "begun":
      return begin(state);
    case "responded":
      return respond(state, event.status);
    case "fired":
      return fire(state, event.timer);
    case "transportFailed":
    default:
      return isOpen(state) ? end(state, { type: "reportUnreachable" }) : end(state);
  }
}

function isOpen({ phase }: ClientState): boolean {
  return phase === "new" || phase === "trying" || phase === "proceeding";
}

function begin(state: ClientState): ClientStep {
  const [repeat, limit]: readonly [TimerName, TimerName] = state.isInvite ? ["A", "B"] : ["E", "F"];
  const effects: ClientEffect[] = [{ type: "sendRequest" }];
  if (!state.isReliable) effects.push({ type: "setTimer", timer: repeat, afterMs: state.intervalMs });
  effects.push({ type: "setTimer", timer: limit, afterMs: TRANSACTION_MS });
  return { state: { ...state, phase: "trying" }, effects };
}

function fire(state: ClientState, timer: TimerName): ClientStep {
  switch (timer) {
    case "A":
      return state.phase === "trying" ? repeat(state, timer, state.intervalMs * 2) : stay(state);
    case "E": {
      if (!isOpen(state)) return stay(state);
      const next = state.phase === "trying" ? Math.min(state.intervalMs * 2, T2_MS) : T2_MS;
      return repeat(state, timer, next);
    }
    case "B":
      // An INVITE that rings may take minutes: its user has a limit of its own.
      return state.phase === "trying" ? end(state, { type: "reportTimeout" }) : stay(state);
    case "F":
      return isOpen(state) ? end(state, { type: "reportTimeout" }) : stay(state);
    case "D":
    case "K":
    case "M":
      return end(state);
    case "G":
    case "H":
    case "I":
    case "J":
    case "L":
    default:
      return stay(state);
  }
}

function repeat(state: ClientState, timer: TimerName, intervalMs: number): ClientStep {
  return {
    state: { ...state, intervalMs },
    effects: [{ type: "sendRequest" }, { type: "setTimer", timer, afterMs: intervalMs }],
  };
}

function respond(state: ClientState, status: number): ClientStep {
  if (status < 200) {
    return isOpen(state)
      ? { state: { ...state, phase: "proceeding" }, effects: [{ type: "deliver" }] }
      : stay(state);
  }
  return state.isInvite ? finalOfInvite(state, status) : finalOfOther(state);
}

function finalOfInvite(state: ClientState, status: number): ClientStep {
  if (state.phase === "completed") {
    return status >= 300 ? { state, effects: [{ type: "sendAck" }] } : stay(state);
  }
  if (state.phase === "accepted") {
    // Another 200: repeated, or of another branch of a fork.
    return status < 300 ? { state, effects: [{ type: "deliver" }] } : stay(state);
  }
  if (!isOpen(state)) return stay(state);
  if (status < 300) {
    const effects: ClientEffect[] = [
      { type: "deliver" },
      { type: "setTimer", timer: "M", afterMs: TRANSACTION_MS },
    ];
    return { state: { ...state, phase: "accepted" }, effects };
  }
  if (state.isReliable) {
    return {
      state: { ...state, phase: "ended" },
      effects: [{ type: "sendAck" }, { type: "deliver" }, { type: "end" }],
    };
  }
  const effects: ClientEffect[] = [
    { type: "sendAck" },
    { type: "deliver" },
    { type: "setTimer", timer: "D", afterMs: TIMER_D_MS },
  ];
  return { state: { ...state, phase: "completed" }, effects };
}

function finalOfOther(state: ClientState): ClientStep {
  if (!isOpen(state)) return stay(state);
  if (state.isReliable) {
    return { state: { ...state, phase: "ended" }, effects: [{ type: "deliver" }, { type: "end" }] };
  }
  const effects: ClientEffect[] = [{ type: "deliver" }, { type: "setTimer", timer: "K", afterMs: T4_MS }];
  return { state: { ...state, phase: "completed" }, effects };
}

function stay(state: ClientState): ClientStep {
  return { state, effects: [] };
}

function end(state: ClientState, report?: ClientEffect): ClientStep {
  if (state.phase === "ended") return stay(state);
  const effects: ClientEffect[] = report === undefined ? [{ type: "end" }] : [report, { type: "end" }];
  return { state: { ...state, phase: "ended" }, effects };
}
