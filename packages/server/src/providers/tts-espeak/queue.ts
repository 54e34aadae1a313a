/**
 * Requests taking turns at one process: the first in the queue has one piece spoken and goes to the back. It knows no
 * process and no clock; `speakWith` says how a piece is sent.
 */

import type { TtsPart } from "../../ports/tts.ts";
import type { Piece } from "./pieces.ts";

/** Bounds the requests of all calls: two sentences ahead for each of 128 calls. */
export const MAX_REQUESTS = 256;
/** Audio of one request that waits for its reader; beyond it the request gets no turn. */
export const MAX_UNREAD_MS = 60_000;
/** Silence after a sentence. Within a piece espeak-ng pauses by itself, after its last sentence it does not. */
export const SENTENCE_GAP_MS = 150;

type Speak = (pieceId: number, voice: string, text: string) => void;

/** One request: what is still to be spoken of it and what is still to be read. */
export class SpeechJob {
  readonly voice: string;
  readonly #queue: SpeechQueue;
  readonly #pieces: readonly Piece[];
  readonly #parts: TtsPart[] = [];
  /** The piece to be spoken next, or being spoken. */
  #next = 0;
  #unreadMs = 0;
  /** Audio of finished pieces and of the one being spoken. */
  #spokenMs = 0;
  #pieceStartMs = 0;
  #lastOffset = -1;
  #lastAtMs = 0;
  #error: Error | null = null;
  #waiter: (() => void) | null = null;

  constructor(queue: SpeechQueue, voice: string, pieces: readonly Piece[]) {
    this.#queue = queue;
    this.voice = voice;
    this.#pieces = pieces;
  }

  /** The next part, or why there is none. Throws what went wrong, after what was spoken before it. */
  take(): TtsPart | "pending" | "ended" {
    const part = this.#parts.shift();
    if (part !== undefined) {
      if (part.type === "audio") this.#unreadMs -= durationMs(part.samples.length, part.sampleRateHz);
      this.#queue.pump();
      return part;
    }
    if (this.#error !== null) throw this.#error;
    return this.#next >= this.#pieces.length ? "ended" : "pending";
  }

  /** Resolves when `take` is worth another try, or after `wake`. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  wake(): void {
    this.#waiter?.();
    this.#waiter = null;
  }

  /** Nobody reads any more. Idempotent. */
  drop(): void {
    this.#queue.remove(this);
  }

  /** The text to speak now, or null while the reader has enough to read. */
  begin(): string | null {
    if (this.#unreadMs >= MAX_UNREAD_MS) return null;
    this.#pieceStartMs = this.#spokenMs;
    return this.#pieces[this.#next]?.text ?? null;
  }

  /** espeak-ng repeats positions within one word and points at spaces now and then; the port wants ascending words. */
  addWord(codePoints: number, atMs: number): void {
    const piece = this.#pieces[this.#next];
    if (piece === undefined) return;
    const chars = Array.from(piece.text);
    let at = codePoints;
    while (chars[at] === " ") at += 1;
    const textOffset = piece.offsets[at];
    if (textOffset === undefined || textOffset <= this.#lastOffset) return;
    this.#lastOffset = textOffset;
    this.#lastAtMs = Math.max(this.#lastAtMs, Math.round(this.#pieceStartMs + atMs));
    this.#parts.push({ type: "word", textOffset, atMs: this.#lastAtMs });
    this.wake();
  }

  addAudio(samples: Int16Array, sampleRateHz: number): void {
    if (samples.length === 0) return;
    this.#parts.push({ type: "audio", samples, sampleRateHz });
    this.#unreadMs += durationMs(samples.length, sampleRateHz);
    this.#spokenMs += durationMs(samples.length, sampleRateHz);
    this.wake();
  }

  /** The piece was spoken. Returns whether another one follows. */
  finishPiece(sampleRateHz: number): boolean {
    if (this.#pieces[this.#next]?.endsSentence === true)
      this.addAudio(new Int16Array(Math.round((SENTENCE_GAP_MS * sampleRateHz) / 1_000)), sampleRateHz);
    this.#next += 1;
    this.wake();
    return this.#next < this.#pieces.length;
  }

  fail(error: Error): void {
    this.#error ??= error;
    this.wake();
  }

  /** Fails at once: what was not read is lost. */
  cutOff(error: Error): void {
    this.#parts.length = 0;
    this.#next = 0;
    this.fail(error);
  }
}

export class SpeechQueue {
  /** Everything that somebody reads. */
  readonly #jobs = new Set<SpeechJob>();
  readonly #waiting: SpeechJob[] = [];
  #active: { readonly job: SpeechJob; readonly pieceId: number } | null = null;
  #pieceIds = 0;
  #sampleRateHz = 0;
  #ready = false;
  #closed = false;
  #speak: Speak = () => undefined;

  /** How a piece is sent; answered through `word`, `audio`, and `done` or `refused` or `lost`. */
  speakWith(speak: Speak): void {
    this.#speak = speak;
  }

  /** Throws when the queue is full or closed. */
  add(voice: string, pieces: readonly Piece[]): SpeechJob {
    if (this.#closed) throw new Error("the voice is closed");
    if (this.#jobs.size >= MAX_REQUESTS) throw new Error("too many requests wait for the voice");
    const job = new SpeechJob(this, voice, pieces);
    this.#jobs.add(job);
    this.#waiting.push(job);
    this.pump();
    return job;
  }

  /** Gives the next request its turn if nobody has it. */
  pump(): void {
    if (this.#active !== null || !this.#ready || this.#closed) return;
    for (const [index, job] of this.#waiting.entries()) {
      const text = job.begin();
      if (text === null) continue;
      this.#waiting.splice(index, 1);
      this.#pieceIds = (this.#pieceIds + 1) >>> 0;
      this.#active = { job, pieceId: this.#pieceIds };
      this.#speak(this.#pieceIds, job.voice, text);
      return;
    }
  }

  remove(job: SpeechJob): void {
    this.#jobs.delete(job);
    const index = this.#waiting.indexOf(job);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  word(pieceId: number, codePoints: number, atMs: number): void {
    this.#speaking(pieceId)?.addWord(codePoints, atMs);
  }

  audio(pieceId: number, samples: Int16Array): void {
    this.#speaking(pieceId)?.addAudio(samples, this.#sampleRateHz);
  }

  done(pieceId: number): void {
    const job = this.#speaking(pieceId);
    if (job?.finishPiece(this.#sampleRateHz) === true) this.#waiting.push(job);
    this.#next(pieceId);
  }

  refused(pieceId: number, reason: string): void {
    this.#speaking(pieceId)?.fail(new Error(reason));
    this.#next(pieceId);
  }

  ready(sampleRateHz: number): void {
    this.#sampleRateHz = sampleRateHz;
    this.#ready = true;
    this.pump();
  }

  /** Fails the request that was being spoken, and all of them if no process came up since the last loss. */
  lost(error: Error): void {
    const cameUp = this.#ready;
    this.#ready = false;
    this.#active?.job.fail(error);
    this.#active = null;
    if (!cameUp) for (const job of this.#waiting.splice(0)) job.fail(error);
  }

  /** Fails every request. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#active = null;
    this.#waiting.length = 0;
    for (const job of this.#jobs) job.cutOff(new Error("the voice is closed"));
  }

  /** The request being spoken, unless the piece is an older one or nobody reads it any more. */
  #speaking(pieceId: number): SpeechJob | null {
    const active = this.#active;
    return active?.pieceId === pieceId && this.#jobs.has(active.job) ? active.job : null;
  }

  #next(pieceId: number): void {
    if (this.#active?.pieceId !== pieceId) return;
    this.#active = null;
    this.pump();
  }
}

function durationMs(samples: number, sampleRateHz: number): number {
  return (samples * 1_000) / sampleRateHz;
}
