/**
 * How long a pause must be to end a turn: the second layer above plain silence. The least wait is the stage's
 * `turnEndpointDelay`, or what this caller's pauses have taught; words that sound unfinished, and speech that no
 * recogniser understood, are given more. Rules R80 to R86, R145 and R202 of SPEC.md.
 */

import { heardFromAgent } from "./agent-words.ts";
import { debug } from "../call-events.ts";
import { emit, update, updateTurn, type Draft } from "../draft.ts";
import type { EventOf } from "../events.ts";
import type { CallState, UserTurn } from "../state.ts";
import type { Judgement } from "./judgement.ts";

/** An end-of-turn model makes the wait longer by at most this. */
export const EXTRA_MAX_MS = 3_000;
/** Below this the user probably continues. */
export const UNFINISHED = 0.5;
/** Below this the user certainly continues: the words end with "and the". */
export const CLEARLY_UNFINISHED = 0.25;
/** From here on it is a complete short answer: never more than the least wait. */
export const COMPLETE = 0.95;
/** A turn detector that listens and is this sure overrules words that leave it open. */
export const AUDIO_CERTAIN = 0.9;
/** Limit of opinions stored: one detector for words, one for sound, and some spare. */
export const JUDGEMENTS_MAX = 4;
/** Characters of the agent's last sentences that the turn detectors get. */
const AGENT_TEXT_CHARS = 300;

/** The likelihoods at which the curve of the wait has the values of the two settings. */
const RATHER_UNFINISHED = 0.35;
const SURELY_UNFINISHED = 0.15;
const RATHER_ODDS = oddsOfMore(RATHER_UNFINISHED);
const CLEARLY_ODDS = oddsOfMore(SURELY_UNFINISHED);
/** No detector is surer than this. */
const LEAST_FINISHED = 0.01;

/** A pause shorter than this is articulation and teaches nothing. */
export const LEARNED_PAUSE_MIN_MS = 200;
/** Weight of a new pause: after four of them the old estimate counts an eighth. */
const LEARNING_RATE = 0.4;
/** A turn that was not cut off lets the estimate fall by a twentieth: half is gone after fourteen of them. */
const FORGETTING = 0.95;
/** The wait is longer than the average pause by this factor, or half of the pauses would still end the turn. */
const PAUSE_MARGIN = 1.2;

/** Queries the turn detectors once for each revision whose transcript has arrived. */
export function askJudges(draft: Draft): void {
  const { turn, plan, stage, clock } = draft.state;
  if (turn.kind === "quiet" || turn.forced || turn.transcript === null) return;
  if (plan.turnTaking.judgementWaitMs === 0) return;
  updateTurn(draft, { judging: { requestedMediaMs: clock.mediaMs }, judgements: [] });
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
  const { finished, by, listens = false } = event;
  const others = turn.judgements.filter((judgement) => judgement.by !== by).slice(1 - JUDGEMENTS_MAX);
  updateTurn(draft, {
    judgements: finished === null ? others : [...others, { by, listens, finished }],
    judging: (event.pending ?? 0) > 0 ? turn.judging : null,
  });
  if (finished !== null)
    debug(draft, `utterance ${turn.utteranceId}: ${by} says finished ${finished.toFixed(2)}`);
}

/**
 * One likelihood from several verdicts. A complete short answer decides. Then turn detectors that listen decide if they
 * are sure, although words that cannot be the end still cause a moderate wait. Otherwise the lowest likelihood counts.
 */
export function combined(judgements: readonly Judgement[]): number | null {
  if (judgements.length === 0) return null;
  const lowest = Math.min(...judgements.map(({ finished }) => finished));
  if (judgements.some(({ listens, finished }) => !listens && finished >= COMPLETE)) return COMPLETE;
  const heard = judgements.filter(({ listens }) => listens);
  if (heard.length === 0 || heard.some(({ finished }) => finished < AUDIO_CERTAIN)) return lowest;
  return lowest < CLEARLY_UNFINISHED ? RATHER_UNFINISHED : Math.max(lowest, UNFINISHED);
}

/** Silence that ends a turn when nothing suggests a longer wait. */
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
    turn.judging === null ? 0 : turn.judging.requestedMediaMs - voice.lastSpeechMediaMs + judgementWaitMs;
  return Math.min(bareMs + EXTRA_MAX_MS, Math.max(leastWaitMs(state) + extraMs, waitedForMs));
}

/**
 * The additional wait as one curve over the likelihood that the user has finished. Pauses within speech die out about
 * exponentially, so the wait at which a mistake and the waiting cost the same is linear in the logarithm of the odds that
 * the user goes on. It begins at even odds and passes through `unfinishedExtraMs` and `clearlyUnfinishedExtraMs`; beyond
 * them it rises with the same slope, to `EXTRA_MAX_MS` at most.
 */
export function unfinishedMs(finished: number | null, ratherMs: number, clearlyMs: number): number {
  if (finished === null || finished >= UNFINISHED) return 0;
  const odds = oddsOfMore(Math.max(finished, LEAST_FINISHED));
  if (odds <= RATHER_ODDS) return (ratherMs * odds) / RATHER_ODDS;
  const risePerUnit = Math.max(0, clearlyMs - ratherMs) / (CLEARLY_ODDS - RATHER_ODDS);
  return Math.min(EXTRA_MAX_MS, ratherMs + risePerUnit * (odds - RATHER_ODDS));
}

/** Logarithm of the odds that the user goes on. */
function oddsOfMore(finished: number): number {
  return Math.log((1 - finished) / finished);
}

/** The caller went on after a pause that was no end. A pause that was judged unfinished is not learned from. */
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
