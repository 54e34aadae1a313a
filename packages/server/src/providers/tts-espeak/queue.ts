/**
 * Shares one process between requests: the first in the queue has one piece spoken and goes to the end. It knows no
 * process and no clock; `speakWith` sends a piece.
 */

import type { TtsPart } from "../../ports/tts.ts";
import type { Piece } from "./pieces.ts";

/** Limit of the requests of all calls: two sentences ahead for each of 128 calls. */
export const MAX_REQUESTS = 256;
/** Limit of unread audio of one request; beyond it the request is not scheduled. */
export const MAX_UNREAD_MS = 60_000;
/** Silence after a sentence. espeak-ng adds pauses within a piece, but none after its last sentence. */
export const SENTENCE_GAP_MS = 150;

type Speak = (pieceId: number, voice: string, text: string) => void;

/** One request: its text that is still to be spoken, and its audio that is still to be read. */
export class SpeechJob {
  readonly voice: string;
  readonly #queue: SpeechQueue;
  readonly #pieces: readonly Piece[];
  readonly #parts: TtsPart[] = [];
  /** The next or current piece. */
  #next = 0;
  #unreadMs = 0;
  /** Audio of finished pieces and of the current one. */
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

  /** The next part, or why there is none. Throws the error after everything that was spoken before it. */
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

  /** Resolves when `take` may have a result, or after `wake`. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiter = resolve;
    });
  }

  wake(): void {
    this.#waiter?.();
    this.#waiter = null;
  }

  /** The reader has stopped. Idempotent. */
  drop(): void {
    this.#queue.remove(this);
  }

  /** The text to speak now, or null while the reader has enough audio. */
  begin(): string | null {
    if (this.#unreadMs >= MAX_UNREAD_MS) return null;
    this.#pieceStartMs = this.#spokenMs;
    return this.#pieces[this.#next]?.text ?? null;
  }

  /** espeak-ng sometimes repeats positions within one word or points at spaces; the port requires ascending words. */
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

  /** Fails at once: unread audio is lost. */
  cutOff(error: Error): void {
    this.#parts.length = 0;
    this.#next = 0;
    this.fail(error);
  }
}

export class SpeechQueue {
  /** All requests that have a reader. */
  readonly #jobs = new Set<SpeechJob>();
  readonly #waiting: SpeechJob[] = [];
  #active: { readonly job: SpeechJob; readonly pieceId: number } | null = null;
  #pieceIds = 0;
  #sampleRateHz = 0;
  #ready = false;
  #closed = false;
  #speak: Speak = () => undefined;

  /** Sends a piece; answered through `word`, `audio`, and `done` or `refused` or `lost`. */
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

  /** Starts the next request if none is being spoken. */
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

  /** Fails the current request, and all requests if no process was ready since the last loss. */
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

  /** The current request, unless the piece is an older one or its reader has stopped. */
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
