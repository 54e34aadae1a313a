/**
 * How long a pause must be to end a turn: the second layer above plain silence (D128). The least wait is the stage's
 * `turnEndpointDelay`, or what this caller's pauses have taught; words that sound unfinished, and speech that nobody
 * understood, are given more.
 */

import { heardFromAgent } from "./agent-words.ts";
import { debug } from "./call-events.ts";
import { emit, update, updateTurn, type Draft } from "./draft.ts";
import type { CallEngineEventBody } from "./events.ts";
import type { CallState, Judgement, UserTurn } from "./state.ts";

/** D128: an end-of-turn model makes the wait longer by at most this. */
export const EXTRA_MAX_MS = 3_000;
/** Below this the user rather goes on. */
export const UNFINISHED = 0.5;
/** Below this the user certainly goes on: it ends with "and the". */
export const CLEARLY_UNFINISHED = 0.25;
/** From here on it is a complete short answer: never more than the least wait. */
export const COMPLETE = 0.95;
/** An ear this sure of the melody decides against words that leave it open. */
export const AUDIO_CERTAIN = 0.9;
/** Judges that are remembered: one that reads, one that listens, and room for more. */
export const JUDGEMENTS_MAX = 4;
/** What the judges are told of the agent: its last sentences. */
const AGENT_TEXT_CHARS = 300;

/** A pause shorter than this is articulation and teaches nothing. */
export const LEARNED_PAUSE_MIN_MS = 200;
/** Weight of a new pause: after four of them the old estimate counts an eighth. */
const LEARNING_RATE = 0.4;
/** A turn that was not cut off lets the estimate fall by a twentieth: half is gone after fourteen of them. */
const FORGETTING = 0.95;
/** The wait is longer than the average pause by this factor, or half of the pauses would still end the turn. */
const PAUSE_MARGIN = 1.2;

type EventOf<T extends CallEngineEventBody["type"]> = Extract<CallEngineEventBody, { readonly type: T }>;

/** Asks the judges once for each revision whose transcript has come. */
export function askJudges(draft: Draft): void {
  const { turn, plan, stage, clock } = draft.state;
  if (turn.kind === "quiet" || turn.forced || turn.transcript === null) return;
  if (plan.turnTaking.judgementWaitMs === 0) return;
  updateTurn(draft, { judging: { askedMediaMs: clock.mediaMs }, judgements: [] });
  emit(draft, {
    type: "judgeTurn",
    utteranceId: turn.utteranceId,
    revision: turn.revision,
    text: turn.transcript.understood ? turn.transcript.text : "",
    agentText: heardFromAgent(draft.state).slice(-AGENT_TEXT_CHARS),
    languageHint: stage.languageHint,
  });
}

export function onTurnJudged(draft: Draft, event: EventOf<"turnJudged">): void {
  const { turn } = draft.state;
  if (turn.kind === "quiet" || turn.utteranceId !== event.utteranceId) return;
  if (turn.revision !== event.revision || turn.transcript === null) return;
  const { finished, by } = event;
  const others = turn.judgements.filter((judgement) => judgement.by !== by).slice(1 - JUDGEMENTS_MAX);
  updateTurn(draft, {
    judgements: finished === null ? others : [...others, { by, finished }],
    judging: (event.pending ?? 0) > 0 ? turn.judging : null,
  });
  if (finished !== null)
    debug(draft, `utterance ${turn.utteranceId}: ${by} says finished ${finished.toFixed(2)}`);
}

/**
 * One likelihood of several opinions. A complete short answer decides. Then a judge that listened and is sure decides,
 * though words that cannot be the end still ask for a moderate wait. Otherwise the most doubtful counts.
 */
export function combined(judgements: readonly Judgement[]): number | null {
  if (judgements.length === 0) return null;
  const lowest = Math.min(...judgements.map(({ finished }) => finished));
  if (judgements.some(({ by, finished }) => by === "text" && finished >= COMPLETE)) return COMPLETE;
  const heard = judgements.find(({ by }) => by === "audio")?.finished;
  if (heard === undefined || heard < AUDIO_CERTAIN) return lowest;
  return lowest < CLEARLY_UNFINISHED ? CLEARLY_UNFINISHED : Math.max(lowest, UNFINISHED);
}

/** Silence that ends a turn when nothing speaks for waiting longer. */
export function leastWaitMs({ stage, plan, endpointing }: CallState): number {
  const { turnEndpointDelayMs } = stage.vad;
  const most = Math.min(plan.turnTaking.adaptiveEndpointMaxMs, turnEndpointDelayMs + EXTRA_MAX_MS);
  return Math.max(turnEndpointDelayMs, Math.min(most, endpointing.pauseMs * PAUSE_MARGIN));
}

/** Silence that ends this turn, as far as is known now. `understood`: its transcript has words. */
export function endpointMs(state: CallState, turn: UserTurn, understood: boolean): number {
  const { stage, plan, voice } = state;
  const { unfinishedExtraMs, clearlyUnfinishedExtraMs, notUnderstoodExtraMs, judgementWaitMs } =
    plan.turnTaking;
  const bareMs = stage.vad.turnEndpointDelayMs;
  const finished = combined(turn.judgements);
  if (turn.transcript === null) return leastWaitMs(state);
  if (finished !== null && finished >= COMPLETE && understood) return bareMs;
  const heardNothing = understood ? 0 : notUnderstoodExtraMs;
  const extraMs = Math.max(heardNothing, unfinishedMs(finished, unfinishedExtraMs, clearlyUnfinishedExtraMs));
  const waitedForMs =
    turn.judging === null ? 0 : turn.judging.askedMediaMs - voice.lastSpeechMediaMs + judgementWaitMs;
  return Math.min(bareMs + EXTRA_MAX_MS, Math.max(leastWaitMs(state) + extraMs, waitedForMs));
}

function unfinishedMs(finished: number | null, ratherMs: number, clearlyMs: number): number {
  if (finished === null || finished >= UNFINISHED) return 0;
  return finished < CLEARLY_UNFINISHED ? Math.max(ratherMs, clearlyMs) : ratherMs;
}

/** The caller went on after a pause that was no end. One that was judged unfinished is no reason to wait in others. */
export function learnPause(draft: Draft, pauseMs: number, judgements: readonly Judgement[]): void {
  const { endpointing, plan, stage } = draft.state;
  const { adaptiveEndpointMaxMs } = plan.turnTaking;
  const finished = combined(judgements);
  if (adaptiveEndpointMaxMs === 0 || pauseMs < LEARNED_PAUSE_MIN_MS) return;
  if (finished !== null && finished < UNFINISHED) return;
  const known = Math.max(endpointing.pauseMs, stage.vad.turnEndpointDelayMs / PAUSE_MARGIN);
  const learned = known + LEARNING_RATE * (Math.min(pauseMs, adaptiveEndpointMaxMs) - known);
  update(draft, { endpointing: { pauseMs: Math.round(learned) } });
}

/** A turn ended where the caller meant it to. */
export function forgetPause(draft: Draft): void {
  const { pauseMs } = draft.state.endpointing;
  if (pauseMs > 0) update(draft, { endpointing: { pauseMs: Math.floor(pauseMs * FORGETTING) } });
}
