/**
 * Everything that one call's engine remembers: plain JSON, never mutated. Each part belongs to the file of its noun;
 * `call.ts` puts the first state together.
 */

import type { CallPlan, DataMessageFlags, StagePlan } from "./plan.ts";
import type { EndReason, Tones } from "./effects.ts";
import type { ForcedMessage, ToolCall, ToolRound, UnawaitedTool } from "./tool-state.ts";

/**
 * created → waiting (for the join) → live → parting (last words, nothing else is listened to) → ended. Any phase may
 * go straight to ended.
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
  /** What is still to be said; null once its reply exists. */
  readonly text: string | null;
  readonly limitMs: number;
}

export interface Clock {
  readonly atMs: number;
  /** Received media since the join. */
  readonly mediaMs: number;
  readonly joinedAtMs: number | null;
}

/** `losses` counts, so that each loss has a grace of its own. */
export interface Connection {
  readonly kind: "connected" | "lost";
  readonly losses: number;
  /** Wait for its return, where it is not the plan's. */
  readonly graceMs?: number;
}

/** none: the plan has none. connecting: not yet, or lost and tried again. failed: no more in this call. */
export type DataConnectionState = "none" | "connecting" | "connected" | "failed";

/** Whose voice a window has, if it has one: unknown while the room's echo has still to be learned. */
export type WindowOrigin = "user" | "unknown" | "agent";

/** Plain voice activity, smoothed over single frames; turns are built upon it. */
export interface VoiceActivity {
  readonly speaking: boolean;
  /** Speech frames in a row that are not yet called speech. */
  readonly onsetMs: number;
  /** Speech frames of the present or latest run of speech. */
  readonly runMs: number;
  readonly lastSpeechMediaMs: number;
  readonly lastSpeechAtMs: number;
  /** Silence before the present run of speech. */
  readonly pauseMs: number;
  readonly frameMediaMs: number;
  /** Of the latest frame. */
  readonly origin: WindowOrigin;
}

/** What one judge said of the current revision. */
export interface Judgement {
  readonly by: string;
  /** 0 to 1. */
  readonly finished: number;
}

/** What this caller's pauses have taught. */
export interface Endpointing {
  /** Moving average of the pauses that were no end of a turn; 0: nothing learned. */
  readonly pauseMs: number;
}

export interface FinishedTranscript {
  readonly text: string;
  readonly understood: boolean;
  readonly atMs: number;
}

/** quiet → speaking ⇄ pausing → ended (the silence is long enough, or the turn too long; the transcript is not there). */
export type Turn = { readonly kind: "quiet" } | UserTurn;

export interface UserTurn {
  readonly kind: "speaking" | "pausing" | "ended";
  readonly utteranceId: number;
  readonly startMediaMs: number;
  readonly startAtMs: number;
  /** Speech frames so far. */
  readonly speechMs: number;
  /** Latest revision asked for; 0: none. */
  readonly revision: number;
  /** idle: nothing asked since the latest speech. retrying: failed, waiting to ask again. */
  readonly request: "idle" | "asked" | "retrying" | "answered";
  readonly attempts: number;
  /** Of the current revision. */
  readonly transcript: FinishedTranscript | null;
  /** Latest words of any revision: enough to confirm an interruption, never enough to answer. */
  readonly partial: string;
  /** The reply that this turn paused, and whether words or length have confirmed the interruption. */
  readonly interrupts: number | null;
  readonly confirmed: boolean;
  /** So long that it is an interruption, unless the recogniser still says that it is none. */
  readonly long: boolean;
  /** Some of it is certainly no echo of the agent. */
  readonly clear: boolean;
  /** Ended by its length: speech does not take it up again. */
  readonly forced: boolean;
  /** Transcripts asked for at the first sign of a pause. */
  readonly earlyRequests: number;
  readonly speculations: number;
  /** Speculations that were dropped because the user went on. */
  readonly refunds: number;
  /** Some of it was said while the agent was heard, or so soon after that its echo may still have come. */
  readonly overAgent: boolean;
  /** The silence before it, when the agent had only just begun to answer: it was perhaps cut off. */
  readonly cutOffAfterMs: number | null;
  /** Opinions on the current revision, and when they were asked for; null: all are there, or none was asked for. */
  readonly judgements: readonly Judgement[];
  readonly judging: { readonly askedMediaMs: number } | null;
}

export type SegmentStatus = "waiting" | "requested" | "sounding" | "synthesized" | "played";

export interface Segment {
  readonly segmentId: number;
  /** White space between the segment before and this one, as shown: "" or " ". */
  readonly lead: string;
  readonly text: string;
  /** In place of text; null: speech. */
  readonly tones: Tones | null;
  readonly status: SegmentStatus;
  readonly attempts: number;
  readonly silent: boolean;
  readonly durationMs: number;
  /** Of the audio, as far as playout has told. */
  readonly playedMs: number;
  readonly heardChars: number;
}

/** closed: `speak` not yet sent. cutting: `clearPlayout` was sent, its answer is awaited. */
export type Playout = "closed" | "open" | "paused" | "cutting";

/** What ended a reply early: the user, a failing engine, or the end of the call. */
export type CutCause = "speech" | "text" | "failure" | "end";

/** farewell: the message of a soft end. reminder: an inactivity message. */
export type ReplyPurpose = "answer" | "opening" | "parting" | "farewell" | "reminder" | "forced" | "tones";

export interface Reply {
  readonly replyId: number;
  readonly purpose: ReplyPurpose;
  /** Fixed at its start. */
  readonly medium: "voice" | "text";
  /** failed: what it has said is kept and a continuation is due. */
  readonly generation: "running" | "finished" | "failed";
  /** A speculative reply is not committed before the end of its turn. */
  readonly committed: boolean;
  readonly uninterruptible: boolean;
  readonly playout: Playout;
  /** Some of it has been heard. */
  readonly begun: boolean;
  /** The utterance whose speech holds the playout. */
  readonly heldBy: number | null;
  /** Text not yet cut into segments. */
  readonly buffer: string;
  /** Characters received, also those dropped beyond the limit. */
  readonly receivedChars: number;
  readonly textPieces: number;
  readonly segments: readonly Segment[];
  /** What it was generated from, for the commit to compare; `transcript` only of a speculative reply. */
  readonly basis: {
    readonly contextVersion: number;
    readonly stageId: string;
    readonly transcript: string | null;
  };
  /** Tool calls of the same generation, made once its speech is over. */
  readonly calls: readonly ToolCall[];
  /** False: the model must answer by itself, and its calls are ignored. */
  readonly mayCall: boolean;
  /** Characters of its request; 0 for a fixed text. */
  readonly requestChars: number;
  /** `inputs.received` that this reply answers. */
  readonly covers: number;
  /** Messages below this index of the history are what it was made from; what came later it does not answer. */
  readonly coversIndex: number;
  /** Set with `cutting`. */
  readonly cutBy: CutCause | null;
  /** What made an interruption by speech certain. */
  readonly confirmedBy: "words" | "length" | null;
  readonly transcript: AgentTranscript;
  /** Position in the history from the first heard word on. */
  readonly messageIndex: number | null;
  readonly startedMediaMs: number;
  readonly startedAtMs: number;
  readonly lastTextAtMs: number;
  readonly lastPlayoutAtMs: number;
  /** Counts looks of the lazily rewound stall timers, so that each look is a timer of its own. */
  readonly looks: number;
  readonly times: ReplyTimes;
}

/** What clients have been shown of a reply. `ordinal` null: nothing yet. */
export interface AgentTranscript {
  readonly ordinal: number | null;
  readonly shownChars: number;
}

/** `atMs` of each step, null while it has not happened. */
export interface ReplyTimes {
  readonly firstToken: number | null;
  readonly firstSentence: number | null;
  readonly firstAudio: number | null;
}

/** Of the turn that the next reply answers. */
export interface AcceptedTurn {
  readonly turnId: number;
  readonly speechEndAtMs: number;
  readonly endOfTurnAtMs: number;
  readonly transcriptAtMs: number | null;
}

/** none: over, superseded or never planned. */
export interface Opening {
  readonly kind: "none" | "delayed" | "due";
  readonly text: string | null;
  readonly prompt: string | null;
  readonly delayMs: number;
  readonly uninterruptible: boolean;
  /** Agent speaks first (a text is said even after the user has spoken), or fallback of a silent user. */
  readonly first: "agent" | "user";
}

/** A reply is due while `received` exceeds `answered`; replies carry what they cover. */
export interface Inputs {
  readonly received: number;
  readonly answered: number;
  /** Words of the user below this index of the history are answered, as far as they ever will be. */
  readonly answeredIndex: number;
  /** The next generation goes on where a reply broke off. */
  readonly continuation: boolean;
  readonly continuations: number;
  /** Rounds of tools since the user last asked for something. */
  readonly toolRounds: number;
  readonly turn: AcceptedTurn | null;
}

export interface EngineHealth {
  readonly failures: number;
  /** Of recogniser and model moved on by every time that nobody needed them. */
  readonly failingSinceMs: number | null;
  /** Nobody has needed it since then, and its failure limit stands still; null: it is needed, or works. */
  readonly unneededSinceMs: number | null;
  /** A failed request waits to be tried again. */
  readonly retrying: boolean;
  /** It has failed for as long as a call may wait: the call is about to end. */
  readonly lost: boolean;
}

export type AgentState = "idle" | "listening" | "thinking" | "speaking";

export type IdKind = "utterance" | "reply" | "segment" | "timer" | "turn" | "ordinal" | "invocation";

export interface CallState {
  readonly plan: CallPlan;
  readonly stage: StagePlan;
  /** Of the plan, and debug messages if the join asked for them. */
  readonly flags: DataMessageFlags;
  readonly phase: Phase;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly dataConnection: DataConnectionState;
  readonly ids: Readonly<Record<IdKind, number>>;
  readonly voice: VoiceActivity;
  readonly turn: Turn;
  readonly endpointing: Endpointing;
  /** When the agent was last heard; null: not yet. */
  readonly agentHeardAtMs: number | null;
  readonly reply: Reply | null;
  readonly opening: Opening;
  readonly inputs: Inputs;
  readonly history: History;
  readonly engines: Readonly<Record<"stt" | "llm" | "tts", EngineHealth>>;
  readonly timers: TimerTable;
  /** `atMs` of the latest notice of each bounded kind, and the count of the running second. */
  readonly notices: Notices;
  /** Last `state` message sent. */
  readonly shown: AgentState | null;
  readonly latestInputTokens: number | null;
  readonly contextWindow: ContextWindow;
  /** State shared with tools, one level deep. */
  readonly callState: Readonly<Record<string, unknown>>;
  /** Null: no tool is waited for. */
  readonly toolRound: ToolRound | null;
  readonly unawaitedTools: readonly UnawaitedTool[];
  /** Ids of calls that left no trace; what still comes for them is nobody's fault. */
  readonly droppedCalls: readonly string[];
  /** Immediate ones first, otherwise in the order of their arrival. */
  readonly forced: readonly ForcedMessage[];
  readonly inactivity: Inactivity;
  readonly softEnd: SoftEnd | null;
  readonly outputMedium: "voice" | "text";
}

/** How much of the history goes into a request. */
export interface ContextWindow {
  /** As the model counted its latest long request, but never more than the estimate. */
  readonly charsPerToken: number;
  /** Something has been left out in this call. */
  readonly shortened: boolean;
}

/** The timer counts while user and agent are silent; what interrupts it for a moment, such as a cough, pauses it. */
export interface Inactivity {
  /** Index of the inactivity message that is next. */
  readonly next: number;
  /** Silence counted so far, without the running one. */
  readonly passedMs: number;
  /** `atMs` at which the running silence began; null: somebody is active. */
  readonly sinceAtMs: number | null;
}

/** The call ends once the agent has finished, unless the user acts. */
export interface SoftEnd {
  /** What is still to be said; null once its reply exists. */
  readonly text: string | null;
}

export interface Notices {
  readonly lastAtMs: Readonly<Record<string, number>>;
  readonly secondAtMs: number;
  readonly inSecond: number;
}

export interface HistoryEntry {
  /** Set where the message was cut short; the text is what was heard. */
  readonly interrupted?: true;
  /** Position in the stage; null for what is not recorded. */
  readonly index: number | null;
  readonly role: "user" | "agent" | "tool_call" | "tool_result";
  readonly text: string;
  readonly medium: "voice" | "text";
  readonly invocationId: string | null;
  readonly toolName: string | null;
  readonly startMediaMs: number;
  readonly startAtMs: number;
}

export interface History {
  readonly entries: readonly HistoryEntry[];
  readonly nextIndex: number;
  readonly chars: number;
  /** Grows with each change that the model would see. */
  readonly version: number;
}

export type TimerKind =
  | "join"
  | "maxDuration"
  | "opening"
  | "inactivity"
  | "reconnect"
  | "turnLimit"
  | "transcript"
  | "transcriptRetry"
  | "reply"
  | "replyRetry"
  | "synthesis"
  | "playout"
  | "cut"
  | "parting"
  | "tool"
  | "sttLimit"
  | "llmLimit";

/** At most one of each kind, so a call never has more timers than there are kinds. */
export type TimerTable = Readonly<
  Partial<Record<TimerKind, { readonly timerId: number; readonly key: string }>>
>;
