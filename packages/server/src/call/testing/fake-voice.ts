/** Fake voice and playout, driven by the virtual clock of a scenario. */

import type { EffectOf } from "../effects.ts";
import type { CallEngineEventBody } from "../events.ts";
import type { Post } from "./fake-engines.ts";

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

type PlayoutCommand =
  "synthesize" | "speak" | "pausePlayout" | "resumePlayout" | "clearPlayout" | "limitPlayout";

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

  take(effect: EffectOf<PlayoutCommand>): void {
    if (effect.type === "synthesize") this.synthesize(effect);
    else if (effect.type === "speak") this.speak(effect.replyId);
    else if (effect.type === "pausePlayout") this.pause(effect.replyId);
    else if (effect.type === "resumePlayout") this.resume();
    else if (effect.type === "limitPlayout") this.limit(effect);
    else this.clear(effect.replyId);
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
