/**
 * The call engine: `step(state, event) → { state, effects }`. No I/O, no clock, no randomness; it never mutates its
 * argument. The file of its noun handles an event, then `settle` lets each part do what the new state requires: what
 * happens next depends on the state of the call, not on how it was reached. `SPEC.md` is the full specification.
 */

import { agentState } from "./life/agent-state.ts";
import { showState } from "./call-events.ts";
import { FULL_WINDOW } from "./history/context-window.ts";
import { initialDataConnection } from "./life/data-connection.ts";
import { dispatch } from "./dispatch.ts";
import { update, type Draft } from "./draft.ts";
import type { CallEffect } from "./effects.ts";
import { callTimers, settleLostEngines, settleParting } from "./life/ending.ts";
import { digitTimers } from "./life/digits.ts";
import { settleEngineNeed } from "./life/engine-need.ts";
import { engineTimers, HEALTHY } from "./life/engines.ts";
import type { CallEngineEvent } from "./events.ts";
import { openingTimers, openingYields, plannedOpening, startOpening } from "./reply/first-speaker.ts";
import { startForced } from "./reply/forced.ts";
import { initialHistory } from "./history/history.ts";
import { NO_PARTIALS, showPartialWords } from "./history/partial-transcript.ts";
import { isHandingOver } from "./life/handing-over.ts";
import { handoverTimers, settleHandover } from "./life/handover.ts";
import { inactivityTimers, NO_INACTIVITY, settleInactivity } from "./life/inactivity.ts";
import { settleInterruption } from "./turn/interruption.ts";
import { NO_MESSAGES } from "./life/message-state.ts";
import type { CallPlan } from "../plan/plan.ts";
import { playoutTimers, pumpReply } from "./reply/playout.ts";
import { isReplyDue, replyTimers, startAnswer, startSpeculation } from "./reply/reply.ts";
import type { CallState } from "./state.ts";
import { settleSoftEnd } from "./life/soft-end.ts";
import { askToWaitForWords } from "./turn/unknown-words.ts";
import { threadTimers } from "./threads/side-generation.ts";
import { NO_THREADS } from "./threads/thread-state.ts";
import { settleThreads } from "./threads/threads.ts";
import { settleTimers } from "./timers.ts";
import { fillerTimers } from "./tools/filler.ts";
import { settleTools } from "./tools/outcome.ts";
import { toolTimers } from "./tools/use.ts";
import { NO_VOICE, QUIET, settleTurn, turnTimers } from "./turn/turn.ts";

export type { CallState } from "./state.ts";

/**
 * Rounds of `settle`: a turn ends, its reply starts, a reply of nothing ends, the next starts. More would be a loop;
 * the rest then waits for the next event, which comes every 32 ms.
 */
const SETTLE_ROUNDS = 8;

export function initialState(plan: CallPlan): CallState {
  return {
    plan,
    stage: plan.stage,
    flags: plan.dataMessages,
    phase: { kind: "created" },
    clock: { atMs: 0, mediaMs: 0, joinedAtMs: null },
    connection: { kind: "connected", losses: 0 },
    dataConnection: initialDataConnection(plan),
    ids: { utterance: 1, reply: 1, segment: 1, timer: 1, turn: 1, ordinal: 0, invocation: 1 },
    voice: NO_VOICE,
    turn: QUIET,
    endpointing: { pauseMs: 0 },
    agentHeardAtMs: null,
    reply: null,
    opening: plannedOpening(plan),
    inputs: {
      received: 0,
      answered: 0,
      answeredIndex: plan.initialMessages.length,
      continuation: false,
      continuations: 0,
      toolRounds: 0,
      turn: null,
    },
    dataMessages: NO_MESSAGES,
    history: initialHistory(plan),
    engines: { stt: HEALTHY, llm: HEALTHY, tts: HEALTHY },
    timers: {},
    notices: { lastAtMs: {}, secondAtMs: 0, inSecond: 0 },
    shown: null,
    partials: NO_PARTIALS,
    contextWindow: FULL_WINDOW,
    callState: plan.initialState,
    toolRound: null,
    unawaitedTools: [],
    droppedCalls: [],
    forced: [],
    inactivity: NO_INACTIVITY,
    softEnd: null,
    outputMedium: plan.initialOutputMedium,
    sideThreads: NO_THREADS,
  };
}

export function step(
  state: CallState,
  event: CallEngineEvent,
): { state: CallState; effects: readonly CallEffect[] } {
  if (state.phase.kind === "ended") return { state, effects: [] };
  // Another process has the call: only a replay of its log goes on.
  if (state.handover?.isReady === true && event.type !== "adopted") return { state, effects: [] };
  const draft: Draft = { state, effects: [] };
  update(draft, { clock: { ...state.clock, atMs: Math.max(state.clock.atMs, event.atMs) } });
  dispatch(draft, event);
  settle(draft);
  return draft;
}

/** Does what the state requires, until it requires nothing more. */
function settle(draft: Draft): void {
  for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
    const before = draft.state;
    settleLostEngines(draft);
    settleInterruption(draft);
    if (draft.state.phase.kind === "live") settleTurn(draft);
    settleTools(draft);
    settleThreads(draft);
    settleSlot(draft);
    pumpReply(draft);
    if (draft.state === before) break;
  }
  if (draft.state.phase.kind === "ended") return;
  if (draft.state.phase.kind !== "created" && draft.state.phase.kind !== "waiting") {
    showState(draft, agentState(draft.state));
    showPartialWords(draft);
  }
  settleInactivity(draft);
  settleHandover(draft);
  if (draft.state.handover?.isReady === true) return;
  settleEngineNeed(draft);
  const { state } = draft;
  settleTimers(draft, {
    ...callTimers(state),
    ...engineTimers(state),
    ...handoverTimers(state),
    ...openingTimers(state),
    ...inactivityTimers(state),
    ...turnTimers(state),
    ...replyTimers(state),
    ...playoutTimers(state),
    ...toolTimers(state),
    ...fillerTimers(state),
    ...digitTimers(state),
    ...threadTimers(state),
  });
}

/**
 * The free slot goes to last words, forced messages, the opening, the answer that is due, a soft end, or a speculative
 * answer, in this order. Nothing but last words, tones and a filler starts while tools are awaited, and while the words of a turn are
 * awaited, only a sentence that says so.
 */
function settleSlot(draft: Draft): void {
  const { phase, reply, turn, opening, softEnd, forced } = draft.state;
  if (phase.kind === "parting") settleParting(draft);
  if (phase.kind !== "live" || reply !== null || draft.state.toolRound !== null) return;
  if (isHandingOver(draft.state)) {
    // The last message of a soft end was said: the call is over, and there is nothing to hand over.
    if (turn.kind === "quiet" && softEnd?.text === null && !isReplyDue(draft.state)) settleSoftEnd(draft);
    return;
  }
  if (turn.kind === "pausing") {
    if (openingYields(draft.state) && forced.length === 0) startSpeculation(draft);
    return;
  }
  if (turn.kind === "ended" && turn.asksPatience) askToWaitForWords(draft, turn);
  if (turn.kind !== "quiet") return;
  if (forced.length > 0) startForced(draft);
  else if (opening.kind === "due") startOpening(draft);
  else if (softEnd !== null && !isReplyDue(draft.state)) settleSoftEnd(draft);
  else startAnswer(draft);
}
