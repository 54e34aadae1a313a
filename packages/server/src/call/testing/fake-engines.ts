/** Fake engines, playout and user speech, driven by the virtual clock of a scenario. */

import type { LlmToolCall } from "@parley/schema";
import type { EffectOf, ReplyRequest } from "../effects.ts";
import type { CallEngineEventBody } from "../events.ts";

export type Post = (afterMs: number, event: CallEngineEventBody) => void;

/** Speech of the user: words spread evenly over its length; no words for a cough. */
export interface Spoken {
  readonly fromMs: number;
  readonly toMs: number;
  readonly words: readonly string[];
}

export class FakeUser {
  readonly #spoken: Spoken[] = [];

  speak(fromMs: number, lastingMs: number, text: string): void {
    const words = text.split(/\s+/).filter((word) => word !== "");
    this.#spoken.push({ fromMs, toMs: fromMs + lastingMs, words });
  }

  /** Whether any of the window [toMs - 32, toMs) has speech at its middle. */
  score(toMs: number): number {
    const middle = toMs - 16;
    return this.#spoken.some(({ fromMs, toMs: end }) => middle >= fromMs && middle < end) ? 0.9 : 0.01;
  }

  heard(fromMs: number, toMs: number): string {
    return this.#spoken
      .flatMap((spoken) =>
        spoken.words.filter((_, index) => {
          const wordMs = (spoken.toMs - spoken.fromMs) / spoken.words.length;
          const endMs = spoken.fromMs + (index + 1) * wordMs;
          return endMs > fromMs && endMs <= toMs + wordMs / 2;
        }),
      )
      .join(" ");
  }
}

export type SttAnswer = "answer" | "hang" | "fail" | "refuse" | "exhaust";

const FAILURES = { fail: {}, refuse: { permanent: true }, exhaust: { exhausted: true } } as const;

export class FakeStt {
  readonly #user: FakeUser;
  readonly #post: Post;
  readonly #openedMs = new Map<number, number>();
  delayMs = 60;
  /** Partial text this often while an utterance is open; null: none. */
  partialsMs: number | null = null;
  /** How the next requests go; `answer` when used up. */
  script: SttAnswer[] = [];

  constructor(user: FakeUser, post: Post) {
    this.#user = user;
    this.#post = post;
  }

  open({ utteranceId, prerollMs }: EffectOf<"openUtterance">, nowMs: number): void {
    this.#openedMs.set(utteranceId, nowMs - prerollMs);
  }

  request({ utteranceId, revision }: EffectOf<"requestTranscript">, nowMs: number): void {
    const answer = this.script.shift() ?? "answer";
    if (answer === "hang") return;
    if (answer !== "answer") {
      const error = { type: "transcriptFailed", utteranceId, revision, error: answer } as const;
      this.#post(this.delayMs, { ...error, ...FAILURES[answer] });
      return;
    }
    const text = this.#user.heard(this.#openedMs.get(utteranceId) ?? nowMs, nowMs);
    const understood = text !== "";
    this.#post(this.delayMs, { type: "transcriptFinished", utteranceId, revision, text, understood });
  }

  partials(nowMs: number): void {
    for (const [utteranceId, fromMs] of this.#openedMs) {
      const text = this.#user.heard(fromMs, nowMs);
      if (text !== "") this.#post(0, { type: "transcriptUpdated", utteranceId, text });
    }
  }

  abandon(utteranceId: number): void {
    this.#openedMs.delete(utteranceId);
  }
}

export interface FakeCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly problem?: string;
}

/** Text arrives in pieces of four characters; then it ends, fails or hangs. */
export interface Generation {
  readonly text: string;
  readonly end?: "finish" | "fail" | "refuse" | "exhaust" | "hang";
  /** After the text. */
  readonly calls?: readonly FakeCall[];
  readonly firstMs?: number;
  readonly pieceMs?: number;
}

const PIECE_CHARS = 4;

/** The events about one generation. */
interface GenerationEvents {
  readonly text: (text: string) => CallEngineEventBody;
  readonly called: (call: LlmToolCall, problem: string | null) => CallEngineEventBody;
  readonly finished: () => CallEngineEventBody;
  readonly failed: (error: string, kind: "refuse" | "exhaust" | "fail") => CallEngineEventBody;
}

function replyEvents(replyId: number): GenerationEvents {
  const kinds = { refuse: { permanent: true }, exhaust: { exhausted: true }, fail: {} } as const;
  return {
    text: (text) => ({ type: "replyTextReceived", replyId, text }),
    called: (call, problem) => ({ type: "replyToolCalled", replyId, call, problem }),
    finished: () => ({ type: "replyTextFinished", replyId, inputTokens: 100, outputTokens: 20 }),
    failed: (error, kind) => ({ type: "replyFailed", replyId, error, ...kinds[kind] }),
  };
}

function sideEvents(generationId: number): GenerationEvents {
  return {
    text: (text) => ({ type: "sideTextReceived", generationId, text }),
    called: (call, problem) => ({ type: "sideToolCalled", generationId, call, problem }),
    finished: () => ({ type: "sideTextFinished", generationId, inputTokens: 100, outputTokens: 20 }),
    failed: (error, kind) => {
      const permanent = kind === "refuse" ? { permanent: true as const } : {};
      return { type: "sideGenerationFailed", generationId, error, ...permanent };
    },
  };
}

export class FakeLlm {
  readonly #post: Post;
  readonly requests: ReplyRequest[] = [];
  readonly #aborted = new Set<number>();
  readonly sideRequests: EffectOf<"generateSide">[] = [];
  readonly #abortedSides = new Set<number>();
  /** The same for generations of side threads. */
  sideScript: Generation[] = [];
  usualSide: (request: ReplyRequest) => Generation = () => ({ text: "Noted." });
  /** How the next generations go; afterwards `usual`. */
  script: Generation[] = [];
  usual: (request: ReplyRequest) => Generation = (request) => ({
    text: `You said ${request.messages.at(-1)?.text ?? "nothing"}. That is understood. What else can I do for you?`,
  });

  constructor(post: Post) {
    this.#post = post;
  }

  generate({ replyId, request }: EffectOf<"generateReply">): void {
    this.requests.push(request);
    this.#write(this.script.shift() ?? this.usual(request), replyEvents(replyId));
  }

  /** A generation of a side thread begins, or is aborted. */
  side(effect: EffectOf<"generateSide" | "abortSide">): void {
    if (effect.type === "abortSide") {
      this.#abortedSides.add(effect.generationId);
      return;
    }
    this.sideRequests.push(effect);
    this.#write(this.sideScript.shift() ?? this.usualSide(effect.request), sideEvents(effect.generationId));
  }

  #write(generation: Generation, events: GenerationEvents): void {
    const { text, end = "finish", calls = [], firstMs = 120, pieceMs = 8 } = generation;
    let atMs = firstMs;
    for (let from = 0; from < text.length; from += PIECE_CHARS) {
      this.#post(atMs, events.text(text.slice(from, from + PIECE_CHARS)));
      atMs += pieceMs;
    }
    for (const { name, arguments: given = {}, problem = null } of calls) {
      this.#post(atMs, events.called({ id: `model_${atMs}`, name, arguments: given }, problem));
      atMs += pieceMs;
    }
    if (end === "finish") this.#post(atMs, events.finished());
    if (end === "refuse") this.#post(atMs, events.failed("no such model", end));
    if (end === "exhaust") this.#post(atMs, events.failed("no other one is left", end));
    if (end === "fail") this.#post(atMs, events.failed("stream broke", end));
  }

  isSideAborted(generationId: number): boolean {
    return this.#abortedSides.has(generationId);
  }

  abort(replyId: number): void {
    this.#aborted.add(replyId);
  }

  isAborted(replyId: number): boolean {
    return this.#aborted.has(replyId);
  }
}

/** ok, or a fault: before any audio, after 200 ms of audio, never answering, never ending. */
export type Synthesis = "ok" | "fail" | "refuse" | "exhaust" | "fail-midway" | "hang" | "stall" | "empty";

interface Rendered {
  readonly replyId: number;
  readonly segmentId: number;
  readonly text: string;
  attempt: number;
  receivedMs: number;
  playedMs: number;
  complete: boolean;
  /** Its first frame was sent. */
  started: boolean;
  /** It was played to its end. */
  over: boolean;
}

const MS_PER_CHAR = 55;
const FRAME_MS = 20;

/**
 * Voice, playout and the client that plays: a segment's audio arrives at once after its delay, is sent as soon as the
 * client's buffer has room, and is played in frames of 20 ms.
 */
export class FakeVoice {
  readonly #post: Post;
  /** In order of their ids. */
  #segments: Rendered[] = [];
  readonly spoken: EffectOf<"synthesize">[] = [];
  /** All of them, by id, also those that are over. */
  readonly #known = new Map<number, Rendered>();
  #open: number | null = null;
  #paused = false;
  delayMs = 80;
  /** Unplayed audio that the client holds at most; 0: it gets each frame when it plays it. */
  clientBufferMs = 0;
  script: Synthesis[] = [];
  usual: Synthesis = "ok";
  /** Sentences that were rendered before, so that they need no voice. */
  spare: readonly string[] = [];
  /** Answers `clearPlayout` and `pausePlayout`; false: a runner that lost its answer. */
  answers = true;

  constructor(post: Post) {
    this.#post = post;
  }

  synthesize(effect: EffectOf<"synthesize">): void {
    this.spoken.push(effect);
    const { replyId, segmentId, text, silent, tones } = effect;
    const known = this.#segments.find((segment) => segment.segmentId === segmentId);
    const fresh = { attempt: 0, receivedMs: 0, playedMs: 0, complete: false, started: false, over: false };
    const segment = known ?? { ...fresh, replyId, segmentId, text };
    if (known === undefined) this.#segments.push(segment);
    this.#known.set(segmentId, segment);
    segment.attempt += 1;
    const attempt = segment.attempt;
    const isSpare = !silent && this.spare.includes(text);
    const how = silent || isSpare ? "ok" : (this.script.shift() ?? this.usual);
    const wholeMs = tones ? tones.digits.length * (tones.toneMs + tones.spaceMs) : spokenMs(text);
    const receivedMs = how === "fail-midway" || how === "stall" ? 200 : how === "ok" ? wholeMs : 0;
    if (how === "hang") return;
    this.#arrivals.push({ segment, attempt, receivedMs, complete: how === "ok" || how === "fail-midway" });
    const ids = { replyId, segmentId, ...(isSpare ? { prepared: true as const } : {}) };
    const post = (event: CallEngineEventBody): void => {
      this.#attempts.set(event, { segment, attempt });
      this.#post(this.delayMs, event);
    };
    if (receivedMs > 0) post({ type: "segmentAudioReceived", ...ids });
    if (how === "ok") post({ type: "segmentSynthesized", ...ids, durationMs: wholeMs });
    if (how === "empty") post({ type: "segmentSynthesized", ...ids, durationMs: 0 });
    if (how === "refuse") {
      post({ type: "segmentFailed", ...ids, error: "wrong key", receivedMs: 0, permanent: true });
    }
    if (how === "exhaust") {
      const error = "no other one is left";
      post({ type: "segmentFailed", ...ids, error, receivedMs: 0, exhausted: true });
    }
    if (how === "fail" || how === "fail-midway") {
      post({ type: "segmentFailed", ...ids, error: "no voice", receivedMs });
    }
  }

  /** Which attempt an event is of. */
  readonly #attempts = new WeakMap<CallEngineEventBody, { segment: Rendered; attempt: number }>();

  /** An attempt that was replaced by another one posts nothing more. */
  isReplaced(event: CallEngineEventBody): boolean {
    const known = this.#attempts.get(event);
    return known !== undefined && known.attempt !== known.segment.attempt;
  }

  readonly #arrivals: { segment: Rendered; attempt: number; receivedMs: number; complete: boolean }[] = [];

  /** Called when a synthesis event is delivered: its audio is in the buffer from then on. */
  arrive(segmentId: number): void {
    for (const arrival of this.#arrivals.filter(({ segment }) => segment.segmentId === segmentId)) {
      if (arrival.attempt !== arrival.segment.attempt) continue;
      arrival.segment.receivedMs = arrival.receivedMs;
      arrival.segment.complete = arrival.complete;
    }
  }

  speak(replyId: number): void {
    this.#open = replyId;
    this.#paused = false;
  }

  resume(): void {
    this.#paused = false;
  }

  pause(replyId: number): void {
    this.#paused = true;
    if (this.answers) this.#post(0, { type: "playoutPaused", replyId, ...this.#position(replyId) });
  }

  clear(replyId: number): void {
    const position = this.#position(replyId);
    this.#segments = this.#segments.filter((segment) => segment.replyId !== replyId);
    if (this.#open === replyId) this.#open = null;
    if (this.answers) this.#post(0, { type: "playoutCleared", replyId, ...position });
  }

  limit({ replyId, segmentId }: EffectOf<"limitPlayout">): void {
    const isKept = (one: Rendered) => one.replyId !== replyId || one.segmentId <= segmentId || one.started;
    this.#segments = this.#segments.filter(isKept);
  }

  get isSounding(): boolean {
    return this.#open !== null && !this.#paused && this.#head() !== undefined;
  }

  /** Characters of the segment that the client has played, the last word whole. */
  playedChars(segmentId: number): number {
    const segment = this.#known.get(segmentId);
    if (segment === undefined) return 0;
    return segment.over ? segment.text.length : heardChars(segment);
  }

  /** The client plays one frame of 20 ms. */
  tick(): void {
    const head = this.#head();
    if (this.#open === null || this.#paused || head === undefined) return;
    this.#send();
    const ids = { replyId: head.replyId, segmentId: head.segmentId };
    if (head.playedMs < head.receivedMs) {
      const before = heardChars(head);
      head.playedMs = Math.min(head.receivedMs, head.playedMs + FRAME_MS);
      const heard = heardChars(head);
      if (heard > before) {
        this.#post(0, { type: "segmentPlayoutAdvanced", ...ids, heardChars: heard, playedMs: head.playedMs });
      }
    }
    if (head.complete && head.playedMs >= head.receivedMs) {
      head.over = true;
      this.#segments.splice(this.#segments.indexOf(head), 1);
      this.#post(0, { type: "segmentPlayoutFinished", ...ids, playedMs: head.playedMs });
    }
  }

  /** A segment begins when its first frame is sent, which is earlier than it is played by what the client holds. */
  #send(): void {
    let unplayedMs = 0;
    for (const segment of this.#segments.filter(({ replyId }) => replyId === this.#open)) {
      if (unplayedMs > this.clientBufferMs || segment.receivedMs === 0) return;
      if (!segment.started) {
        segment.started = true;
        const { replyId, segmentId } = segment;
        this.#post(0, { type: "segmentPlayoutStarted", replyId, segmentId });
      }
      if (!segment.complete) return;
      unplayedMs += segment.receivedMs - segment.playedMs;
    }
  }

  #head(): Rendered | undefined {
    return this.#segments.find(({ replyId }) => replyId === this.#open);
  }

  #position(replyId: number): { segmentId: number | null; heardChars: number } {
    const head = this.#open === replyId ? this.#head() : undefined;
    if (head === undefined || head.playedMs === 0) return { segmentId: null, heardChars: 0 };
    return { segmentId: head.segmentId, heardChars: heardChars(head) };
  }
}

function spokenMs(text: string): number {
  return Math.max(FRAME_MS, text.length * MS_PER_CHAR);
}

/** Whole words that were begun at this position. */
function heardChars({ text, playedMs }: Rendered): number {
  if (playedMs === 0) return 0;
  const at = Math.floor(playedMs / MS_PER_CHAR);
  const space = text.indexOf(" ", at);
  return space === -1 ? text.length : space;
}
