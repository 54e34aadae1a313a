/**
 * The state of a call's engine: plain JSON, never mutated. Each part belongs to the file of its noun; `call.ts` begins it.
 */

import type { EndReason } from "@parley/schema";
import type { CallPlan, DataMessageFlags, StagePlan } from "../plan/plan.ts";
import type { VoicePlan } from "../plan/voice-plan.ts";
import type { Tones } from "./effects.ts";
import type { ContextWindow, History, PartialWords } from "./history/history-state.ts";
import type { Answerer } from "./life/answerer-state.ts";
import type { Connection } from "./life/connection-state.ts";
import type { Handover } from "./life/handover-state.ts";
import type { DataMessageState } from "./life/message-state.ts";
import type { SideThreads } from "./threads/thread-state.ts";
import type { ForcedMessage, ToolCall, ToolRound, UnawaitedTool } from "./tools/tool-state.ts";
import type { Judgement } from "./turn/judgement.ts";

export type { Connection } from "./life/connection-state.ts";
export type { History, HistoryEntry, MessageDetails } from "./history/history-state.ts";

/**
 * created → waiting (for the join) → live → parting (the last words; all other input is ignored) → ended. Any phase may
 * change directly to ended.
 */
export type Phase =
  | { readonly kind: "created" }
  | { readonly kind: "waiting" }
  | { readonly kind: "live" }
  | ({ readonly kind: "parting" } & Parting)
  | { readonly kind: "ended"; readonly reason: EndReason };

export interface Parting {
  readonly reason: EndReason;
  readonly closeCode: number;
  readonly detail: string | null;
  /** The text that is still to be said; null once its reply exists. */
  readonly text: string | null;
  readonly limitMs: number;
}

export interface Clock {
  readonly atMs: number;
  /** Duration of the media received since the join. */
  readonly mediaMs: number;
  readonly joinedAtMs: number | null;
}

/**
 * none: the plan has no data connection. connecting: not open yet, or lost and retried. failed: permanently, in this
 * call.
 */
export type DataConnectionState = "none" | "connecting" | "connected" | "failed";

/** Whose voice a window contains, if any: unknown until the echo of the line is learned. */
export type WindowOrigin = "user" | "unknown" | "agent";

/** Voice activity, smoothed over single frames; turns are derived from it. */
export interface VoiceActivity {
  readonly speaking: boolean;
  /** Duration of the consecutive speech frames that do not count as speech yet. */
  readonly onsetMs: number;
  /** Duration of the current or latest run of speech. */
  readonly runMs: number;
  readonly lastSpeechMediaMs: number;
  readonly lastSpeechAtMs: number;
  /** Silence before the current run of speech. */
  readonly pauseMs: number;
  readonly frameMediaMs: number;
  /** Origin of the latest frame. */
  readonly origin: WindowOrigin;
}

/** What was learned from the pauses of this caller. */
export interface Endpointing {
  /** Moving average of the pauses that did not end a turn; 0: nothing learned. */
  readonly pauseMs: number;
}

export interface FinishedTranscript {
  readonly text: string;
  readonly understood: boolean;
  readonly atMs: number;
}

/**
 * quiet → speaking ⇄ pausing → ended (the silence was long enough, or the turn too long; the transcript is missing).
 */
export type Turn = { readonly kind: "quiet" } | UserTurn;

export interface UserTurn {
  readonly kind: "speaking" | "pausing" | "ended";
  readonly utteranceId: number;
  readonly startMediaMs: number;
  readonly startAtMs: number;
  /** Duration of the speech frames so far. */
  readonly speechMs: number;
  /** The latest revision that was requested; 0: none. */
  readonly revision: number;
  /** idle: nothing was requested since the latest speech. retrying: failed, and waits for its retry. */
  readonly request: "idle" | "asked" | "retrying" | "answered";
  readonly attempts: number;
  /** Transcript of the current revision. */
  readonly transcript: FinishedTranscript | null;
  /** Latest words of any revision: sufficient to confirm an interruption, but not to answer. */
  readonly partial: string;
  /** The reply that this turn paused, and whether words or length have confirmed the interruption. */
  readonly interrupts: number | null;
  readonly confirmed: boolean;
  /** True: its length makes it an interruption, unless the recogniser still refutes that. */
  readonly long: boolean;
  /** True: a part of it is certainly not an echo of the agent. */
  readonly clear: boolean;
  /** It is clear only since the echo is known and its earlier windows were judged again. */
  readonly cleared: boolean;
  /** True: it was ended by its length, and further speech does not continue it. */
  readonly forced: boolean;
  /** Number of transcripts requested at the first sign of a pause. */
  readonly earlyRequests: number;
  readonly speculations: number;
  /** Number of speculative replies that were dropped because the user continued to speak. */
  readonly refunds: number;
  /** True: a part of it was said while the agent was heard, or so soon afterwards that the echo may still arrive. */
  readonly overAgent: boolean;
  /**
   * Silence before it, if the agent had just begun to answer, so that the user may have been interrupted; otherwise
   * null.
   */
  readonly cutOffAfterMs: number | null;
  /** Opinions on the current revision, and the time of the request; null: all have arrived, or none was requested. */
  readonly judgements: readonly Judgement[];
  readonly judging: { readonly requestedMediaMs: number } | null;
  /** True: no recogniser has answered, and the user is asked for patience once the turn has ended. */
  readonly asksPatience: boolean;
}

export type SegmentStatus = "waiting" | "requested" | "sounding" | "synthesized" | "played";

export interface Segment {
  readonly segmentId: number;
  /** White space between the previous segment and this one, as shown: "" or " ". */
  readonly lead: string;
  readonly text: string;
  /** Tones to play instead of the text; null: speech. */
  readonly tones: Tones | null;
  readonly status: SegmentStatus;
  readonly attempts: number;
  /** That it was last requested from; null: from none yet. Compared by identity: a stage has one object. */
  readonly voice: VoicePlan | null;
  readonly silent: boolean;
  readonly durationMs: number;
  /** Audio that was played, as far as playout has reported. */
  readonly playedMs: number;
  readonly heardChars: number;
}

/** closed: `speak` is not sent yet. cutting: `clearPlayout` was sent, and its answer is pending. */
export type Playout = "closed" | "open" | "paused" | "cutting";

/** What ended a reply early: the user, an engine failure, or the end of the call. */
export type CutCause = "speech" | "text" | "failure" | "end";

/** farewell: the message of a soft end. reminder: an inactivity message. */
export type ReplyPurpose =
  "answer" | "opening" | "parting" | "farewell" | "reminder" | "filler" | "forced" | "tones";

export interface Reply {
  readonly replyId: number;
  readonly purpose: ReplyPurpose;
  /** Medium at the start of the reply; it does not change. */
  readonly medium: "voice" | "text";
  /** failed: the text so far is retained, and a continuation is due. */
  readonly generation: "running" | "finished" | "failed";
  /** True once it is part of the call; a speculative reply is not committed before the end of its turn. */
  readonly committed: boolean;
  readonly uninterruptible: boolean;
  readonly playout: Playout;
  /** True: a part of it was heard. */
  readonly begun: boolean;
  /** The utterance whose speech pauses the playout. */
  readonly heldBy: number | null;
  /** Text that is not cut into segments yet. */
  readonly buffer: string;
  /** Number of characters received, including those dropped beyond the limit. */
  readonly receivedChars: number;
  readonly textPieces: number;
  readonly segments: readonly Segment[];
  /** What it was generated from, compared at the commit. Speculative: `transcript`, and `utteranceId` of a mere voice. */
  readonly basis: {
    readonly contextVersion: number;
    readonly stageId: string;
    readonly transcript: string | null;
    readonly utteranceId?: number;
  };
  /** Tool calls of the same generation, made after its speech. */
  readonly calls: readonly ToolCall[];
  /** False: the model must answer without tools, and its calls are ignored. */
  readonly mayCall: boolean;
  /** Number of characters of its request; 0 for a fixed text. */
  readonly requestChars: number;
  /** Value of `inputs.received` up to which this reply answers. */
  readonly covers: number;
  /** It was generated from the messages below this index of the history, and does not answer later ones. */
  readonly coversIndex: number;
  /** Cause of the cut; set together with `cutting`. */
  readonly cutBy: CutCause | null;
  /** What confirmed the interruption by speech. */
  readonly confirmedBy: "words" | "length" | null;
  readonly transcript: AgentTranscript;
  /** Position in the history from the first heard word on. */
  readonly messageIndex: number | null;
  readonly startedMediaMs: number;
  readonly startedAtMs: number;
  readonly lastTextAtMs: number;
  readonly lastPlayoutAtMs: number;
  /** Number of checks of the stall timers, so that each check is a new timer. */
  readonly stallChecks: number;
  readonly times: ReplyTimes;
}

/** What clients have been shown of a reply. `ordinal` null: nothing yet. */
export interface AgentTranscript {
  readonly ordinal: number | null;
  readonly shownChars: number;
}

/** `atMs` of each step; null: it has not happened yet. */
export interface ReplyTimes {
  readonly firstToken: number | null;
  readonly firstSentence: number | null;
  readonly firstAudio: number | null;
}

/** The turn that the next reply answers. */
export interface AcceptedTurn {
  readonly turnId: number;
  readonly speechEndAtMs: number;
  readonly endOfTurnAtMs: number;
  readonly transcriptAtMs: number | null;
}

/** none: finished, replaced by other speech, or not planned. */
export interface Opening {
  readonly kind: "none" | "delayed" | "due";
  readonly text: string | null;
  readonly prompt: string | null;
  readonly delayMs: number;
  readonly uninterruptible: boolean;
  /**
   * agent: the agent speaks first, and a text is said even if the user has spoken. user: a fallback for a silent user.
   */
  readonly first: "agent" | "user";
}

/** A reply is due while `received` is greater than `answered`; `covers` of a reply is the number that it answers. */
export interface Inputs {
  readonly received: number;
  readonly answered: number;
  /** Words of the user below this index of the history are answered, or will not be answered any more. */
  readonly answeredIndex: number;
  /** True: the next generation continues a reply that failed. */
  readonly continuation: boolean;
  readonly continuations: number;
  /** Number of tool rounds since the last request of the user. */
  readonly toolRounds: number;
  readonly turn: AcceptedTurn | null;
}

export interface EngineHealth {
  readonly failures: number;
  /** Start of the failure. For recogniser and model it is shifted by every time in which they were not needed. */
  readonly failingSinceMs: number | null;
  /** Since when it is not needed, so that its failure limit is paused; null: it is needed, or works. */
  readonly unneededSinceMs: number | null;
  /** True: a failed request waits for its retry. */
  readonly retrying: boolean;
  /** True: it has failed for the limit of the call, which is about to end. */
  readonly lost: boolean;
  /** The user was asked for patience in this outage. */
  readonly noticed?: true;
}

export type AgentState = "idle" | "listening" | "thinking" | "speaking";

export type IdKind = "utterance" | "reply" | "segment" | "timer" | "turn" | "ordinal" | "invocation";

export interface CallState {
  readonly plan: CallPlan;
  readonly stage: StagePlan;
  /** The flags of the plan, and debug messages if the join requested them. */
  readonly flags: DataMessageFlags;
  readonly phase: Phase;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly dataConnection: DataConnectionState;
  readonly ids: Readonly<Record<IdKind, number>>;
  readonly voice: VoiceActivity;
  readonly turn: Turn;
  readonly endpointing: Endpointing;
  /** Time at which the agent was last heard; null: not yet. */
  readonly agentHeardAtMs: number | null;
  readonly reply: Reply | null;
  readonly opening: Opening;
  readonly inputs: Inputs;
  readonly dataMessages: DataMessageState;
  readonly history: History;
  readonly engines: Readonly<Record<"stt" | "llm" | "tts", EngineHealth>>;
  readonly timers: TimerTable;
  /** `atMs` of the latest notice of each limited kind, and the number of notices in the current second. */
  readonly notices: Notices;
  /** The last `state` message that was sent. */
  readonly shown: AgentState | null;
  readonly partials: PartialWords;
  readonly contextWindow: ContextWindow;
  /** State shared with tools, one level deep. */
  readonly callState: Readonly<Record<string, unknown>>;
  /** Null: no tool result is awaited. */
  readonly toolRound: ToolRound | null;
  readonly unawaitedTools: readonly UnawaitedTool[];
  /** Ids of dropped calls that were not recorded; late events about them are ignored. */
  readonly droppedCalls: readonly string[];
  /** Forced messages that wait: immediate ones first, otherwise in the order of their arrival. */
  readonly forced: readonly ForcedMessage[];
  readonly inactivity: Inactivity;
  readonly softEnd: SoftEnd | null;
  readonly outputMedium: "voice" | "text";
  /** Keys that the user has pressed; unset: none yet. */
  readonly digits?: PressedDigits;
  /** Who has answered, as the carrier has found out; unset: it has not. */
  readonly answerer?: Answerer;
  readonly sideThreads: SideThreads;
  /** The language of the sentences that were rendered before the voice could fail; unset: none were. */
  readonly spareSpeech?: { readonly language: string | null };
  /** Unset: no other process is to continue the call. */
  readonly handover?: Handover;
}

export interface PressedDigits {
  /** All of them in this call, so that each key is another wait. */
  readonly pressed: number;
  /** Those that are no message yet; empty when none is awaited. */
  readonly gathered: string;
}

/** The timer runs while user and agent are silent; a short interruption, such as a cough, pauses it. */
export interface Inactivity {
  /** Index of the next inactivity message. */
  readonly next: number;
  /** Duration of the silence so far, without the current stretch. */
  readonly passedMs: number;
  /** Start of the current silence; null: user or agent is active. */
  readonly sinceAtMs: number | null;
}

/** The call ends after the agent has finished, unless the user speaks or writes. */
export interface SoftEnd {
  /** The text that is still to be said; null once its reply exists. */
  readonly text: string | null;
}

export interface Notices {
  readonly lastAtMs: Readonly<Record<string, number>>;
  readonly secondAtMs: number;
  readonly inSecond: number;
}

export type TimerKind =
  | "join"
  | "maxDuration"
  | "opening"
  | "inactivity"
  | "reconnect"
  | "handover"
  | "turnLimit"
  | "transcript"
  | "transcriptRetry"
  | "reply"
  | "replyRetry"
  | "tick"
  | "synthesis"
  | "playout"
  | "cut"
  | "parting"
  | "tool"
  | "filler"
  | "thread"
  | "sttLimit"
  | "llmLimit"
  | "digits";

/** At most one of each kind, so a call never has more timers than there are kinds. */
export type TimerTable = Readonly<
  Partial<Record<TimerKind, { readonly timerId: number; readonly key: string }>>
>;
