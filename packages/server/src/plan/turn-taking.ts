/** The turn-taking settings: of the service, not of the wire. `config/turn-taking.ts` has their defaults and the reasons. */

import { amount } from "./plan-reading.ts";

/** Every setting, with the reader of its stored value. */
export const TURN_TAKING = {
  /** Silence after which the transcript is requested in any case; once it arrives, a speculative reply begins. */
  speculationDelayMs: amount,
  /** Silence after which the transcript is requested early, as often as a turn allows; `speculationDelayMs`: never. */
  transcriptDelayMs: amount,
  /** Speech that confirms an interruption without words, unless the recogniser finds that it was a sign of listening. */
  interruptionConfirmMs: amount,
  /** Silence after a pause with neither words nor more speech, after which the agent resumes. */
  resumeAfterSilenceMs: amount,
  /** Wait for a transcript after the end of turn before it counts as failed. */
  transcriptTimeoutMs: amount,
  /** Wait for the first text of a reply. */
  replyTimeoutMs: amount,
  /** Longest pause between two pieces of text of one reply. */
  replyStallMs: amount,
  /** Wait for the first audio of a segment. */
  synthesisTimeoutMs: amount,
  /** Wait before a failed engine is tried again. */
  engineRetryDelayMs: amount,
  /** How long an engine may fail without one success before the call ends. */
  engineFailureLimitMs: amount,
  /** Wait for a lost transport to come back. */
  reconnectGraceMs: amount,
  /** Longest time that `timeExceededMessage` may take before the call ends anyway. */
  partingLimitMs: amount,
  /** The same for the last message of an agent that hangs up, which is said to its end. */
  farewellLimitMs: amount,
  /** Speech of one turn beyond this ends the turn by force. */
  maximumTurnMs: amount,
  /** Characters of one reply beyond which the rest is dropped. */
  maximumReplyChars: amount,
  /** Tokens of system prompt, tools and messages of one request; what is beyond is left out of it. */
  contextWindowTokens: amount,
  /** Wait for the opinions of turn detectors after the transcript; 0: none is queried. */
  judgementWaitMs: amount,
  /** Silence beyond the least that words which sound rather unfinished are given. */
  unfinishedExtraMs: amount,
  /** The same for words that cannot be the end. */
  clearlyUnfinishedExtraMs: amount,
  /** The same for speech that no recogniser understood. */
  notUnderstoodExtraMs: amount,
  /** Longest least wait that the caller's own pauses may lead to; 0: not learned. */
  adaptiveEndpointMaxMs: amount,
  /** From the agent's first sound on, only words or long speech interrupt. */
  interruptionGraceMs: amount,
  /** Speech of listening words that does not interrupt; 0: they interrupt like any others. */
  backchannelMaxMs: amount,
  /** How long after the agent's sound its echo may come; 0: echo is not looked for. */
  echoTailMs: amount,
};

export type TurnTakingSettings = { readonly [K in keyof typeof TURN_TAKING]: number };
