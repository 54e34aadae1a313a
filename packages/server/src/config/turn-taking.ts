/** The turn-taking settings that a request cannot set. Names that end in `_MS` are in milliseconds. */

import { z } from "zod";
import type { TurnTakingSettings } from "../plan/turn-taking.ts";
import { whole } from "./env-fields.ts";

const SETTINGS = {
  // 6 VAD frames: half of the default endpoint delay, so that a recogniser and a model that need up to 192 ms
  // together add no wait for the caller. Shorter values start work for every breath.
  speculationDelayMs: { variable: "TURN_SPECULATION_DELAY_MS", field: whole(32, 5_000).default(192) },
  // One VAD frame below the threshold: with engines of 380 ms in all, the reply then starts at the end of the turn.
  // Some early requests are wasted work for the recogniser; 192 and more turns them off.
  transcriptDelayMs: { variable: "TURN_TRANSCRIPT_DELAY_MS", field: whole(32, 5_000).default(32) },
  // The 90 ms of a request only pause the agent. Half a second of voice is more than a cough (200 to 350 ms), so it
  // interrupts, unless the recogniser then returns words such as "yeah, okay".
  interruptionConfirmMs: { variable: "TURN_INTERRUPTION_CONFIRM_MS", field: whole(100, 5_000).default(500) },
  // Long enough for a recogniser to return words, short enough that the gap does not sound like a dead line.
  resumeAfterSilenceMs: {
    variable: "TURN_RESUME_AFTER_SILENCE_MS",
    field: whole(200, 10_000).default(1_000),
  },
  // Batch recognisers answer a turn in 0.2 to 2 s; after 6 s callers say "hello?".
  transcriptTimeoutMs: { variable: "TURN_TRANSCRIPT_TIMEOUT_MS", field: whole(500, 30_000).default(6_000) },
  // A loaded local model may take seconds to its first token; a cold one is retried.
  replyTimeoutMs: { variable: "TURN_REPLY_TIMEOUT_MS", field: whole(500, 60_000).default(8_000) },
  // A stream that has started and then sends nothing for this long is dead.
  replyStallMs: { variable: "TURN_REPLY_STALL_MS", field: whole(500, 60_000).default(5_000) },
  // Voices answer within 0.3 s; after 4 s the sentence is retried once.
  synthesisTimeoutMs: { variable: "TURN_SYNTHESIS_TIMEOUT_MS", field: whole(500, 30_000).default(4_000) },
  // Gives a restarting engine time without flooding it with requests.
  engineRetryDelayMs: { variable: "ENGINE_RETRY_DELAY_MS", field: whole(10, 10_000).default(500) },
  // Callers do not wait longer than this, so the call ends.
  engineFailureLimitMs: { variable: "ENGINE_FAILURE_LIMIT_MS", field: whole(1_000, 120_000).default(15_000) },
  // Clients reconnect within seconds or not at all.
  reconnectGraceMs: { variable: "RECONNECT_GRACE_MS", field: whole(0, 60_000).default(10_000) },
  // The call's time is over: its message gets at most half a minute.
  partingLimitMs: { variable: "TIME_EXCEEDED_MESSAGE_LIMIT_MS", field: whole(1_000, 30_000).default(30_000) },
  // About 4,500 characters of speech. Longer messages are cut; a voice that stops is noticed long before.
  farewellLimitMs: { variable: "HANGUP_MESSAGE_LIMIT_MS", field: whole(1_000, 1_800_000).default(300_000) },
  // One utterance of a recogniser holds one uninterrupted minute.
  maximumTurnMs: { variable: "MAX_TURN_DURATION_MS", field: whole(5_000, 600_000).default(60_000) },
  // About five minutes of speech.
  maximumReplyChars: { variable: "MAX_REPLY_CHARS", field: whole(200, 100_000).default(5_000) },
  // Fits, with a reply, into the 32,768 tokens that local models are commonly run with: an hour and a half of talk.
  // The history ends at 400,000 characters, so more than 100,000 tokens only helps a long system prompt.
  contextWindowTokens: { variable: "CONTEXT_WINDOW_TOKENS", field: whole(1_000, 1_000_000).default(24_000) },
  // An audio model needs 10 to 100 ms, and most of that passes within the endpoint delay anyway.
  judgementWaitMs: { variable: "TURN_DETECTOR_TIMEOUT_MS", field: whole(0, 2_000).default(200) },
  // Most pauses within a sentence are shorter than 1.2 s; together with the default endpoint this covers them.
  unfinishedExtraMs: { variable: "TURN_UNFINISHED_EXTRA_MS", field: whole(0, 3_000).default(800) },
  // Nobody ends with "and the": such a pause is thinking, which takes a second or two. The whole wait is at most 3 s.
  clearlyUnfinishedExtraMs: {
    variable: "TURN_CLEARLY_UNFINISHED_EXTRA_MS",
    field: whole(0, 3_000).default(2_000),
  },
  // "Please say it again" is never urgent, and further words make it unnecessary.
  notUnderstoodExtraMs: { variable: "TURN_NOT_UNDERSTOOD_EXTRA_MS", field: whole(0, 3_000).default(600) },
  // A slow speaker pauses for half a second within sentences; other callers accept at most a second of waiting.
  adaptiveEndpointMaxMs: { variable: "TURN_ADAPTIVE_ENDPOINT_MAX_MS", field: whole(0, 3_000).default(1_000) },
  // Both start at once, or the first echo returns before its level is known: neither is meant as an interruption.
  interruptionGraceMs: { variable: "TURN_INTERRUPTION_GRACE_MS", field: whole(0, 5_000).default(400) },
  // "Mhm, yeah, okay" takes less than a second, drawn out up to one and a half, to which the detector of voice activity
  // adds 0.1 s; longer speech is meant as a turn. Until then the engine waits for words, which costs nothing: the agent
  // is silent already.
  backchannelMaxMs: { variable: "TURN_BACKCHANNEL_MAX_MS", field: whole(0, 5_000).default(1_600) },
  // Buffers of client and network hold up to half a second.
  echoTailMs: { variable: "TURN_ECHO_TAIL_MS", field: whole(0, 3_000).default(600) },
} as const satisfies Readonly<Record<keyof TurnTakingSettings, object>>;

type Setting = (typeof SETTINGS)[keyof TurnTakingSettings];
type Variable = Setting["variable"];

export const TURN_TAKING_FIELDS = Object.fromEntries(
  Object.values(SETTINGS).map(({ variable, field }) => [variable, field]),
) as Readonly<Record<Variable, Setting["field"]>>;

export function turnTakingOf(values: Readonly<Record<Variable, number>>): TurnTakingSettings {
  const read = Object.entries(SETTINGS).map(([name, { variable }]) => [name, values[variable]] as const);
  return Object.fromEntries(read) as TurnTakingSettings;
}

/** What the service and its benchmarks use when the environment sets nothing. */
export const DEFAULT_TURN_TAKING: TurnTakingSettings = turnTakingOf(z.object(TURN_TAKING_FIELDS).parse({}));
