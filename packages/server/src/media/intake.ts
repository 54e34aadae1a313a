/**
 * Pacer of incoming audio: turns it into one stream that advances about as fast as real time. Missing audio is
 * replaced by silence, so that turns end on a silent line as well; excess audio waits, and then the oldest is dropped.
 *
 * Two running sums decide, both in samples:
 * - `credit`, what may be passed on now. It grows with time and shrinks with audio, but inserted silence is free: audio
 *   that was held up and comes after its gap was filled is passed on at once and leaves no lasting delay.
 * - `due`, what should have come by now. It grows with time and shrinks with audio and silence.
 */

import { FRAME_MS, frameSamples, msToSamples, samplesToMs } from "./frame.ts";
import { silence } from "./silence.ts";

/** How long missing audio is awaited before silence replaces it; jitter of usual networks stays below it. */
export const GAP_TOLERANCE_MS = 200;
/** Limit of the backlog; beyond it the oldest audio is dropped. Bounds the delay that a fast client can build up. */
export const QUEUE_LIMIT_MS = 1_000;
/** Most credit that a quiet time can add up to: the longest stall that is caught up at once. */
const CREDIT_LIMIT_MS = 1_000;
/** Credit at the start: what a client may have gathered before it was connected. */
const INITIAL_CREDIT_MS = 200;
/** Pace while audio waits: a backlog of one second is gone after ten. A steady sender must be faster to overflow. */
const CATCH_UP_PACE = 1.1;
/** Pace at which audio is missed: sound cards that are up to 2 % slow are not interrupted by bits of silence. */
const EXPECTED_PACE = 0.98;
/** Longest time between two ticks that counts; the rest was a stall of this process and not of the client. */
const LONGEST_STEP_MS = 100;
/** Reports of one kind are at least this far apart; amounts add up in between. */
const REPORT_INTERVAL_MS = 10_000;

export interface IntakeListener {
  /** The next piece of the stream; valid only during the call. `inserted`: silence that the intake added. */
  released(samples: Int16Array, inserted: boolean): void;
  /** Silence was inserted: `missingMs` since the last report. */
  underflowed(missingMs: number): void;
  /** Audio was dropped: `droppedMs` since the last report. */
  overflowed(droppedMs: number): void;
  /** Nothing arrived for `idleTimeoutMs`; once per quiet time. */
  idled(): void;
}

export interface IntakeOptions {
  readonly sampleRateHz: number;
  readonly startMs: number;
  /** Null: never idle. */
  readonly idleTimeoutMs: number | null;
}

export class Intake {
  readonly #listener: IntakeListener;
  readonly #rate: number;
  readonly #idleTimeoutMs: number | null;
  readonly #gap: number;
  readonly #step: number;
  readonly #queue: AudioQueue;
  #credit: number;
  #due = 0;
  #released = 0;
  #seenMs: number;
  #lastAudioMs: number;
  #idle = false;
  #attached = true;
  readonly #missing = new Report();
  readonly #dropped = new Report();

  constructor(options: IntakeOptions, listener: IntakeListener) {
    this.#listener = listener;
    this.#rate = options.sampleRateHz;
    this.#idleTimeoutMs = options.idleTimeoutMs;
    this.#gap = msToSamples(GAP_TOLERANCE_MS, this.#rate);
    this.#step = frameSamples(this.#rate);
    this.#queue = new AudioQueue(msToSamples(QUEUE_LIMIT_MS, this.#rate));
    this.#credit = msToSamples(INITIAL_CREDIT_MS, this.#rate);
    this.#seenMs = options.startMs;
    this.#lastAudioMs = options.startMs;
  }

  /** The media clock: length of everything released so far, in ms. */
  get mediaMs(): number {
    return samplesToMs(this.#released, this.#rate);
  }

  get queuedMs(): number {
    return samplesToMs(this.#queue.length, this.#rate);
  }

  /** Takes audio that arrived. */
  push(samples: Int16Array, nowMs: number): void {
    this.#pass(nowMs);
    this.#lastAudioMs = nowMs;
    this.#idle = false;
    let rest = samples;
    if (this.#queue.length === 0) {
      const count = Math.min(rest.length, Math.max(0, Math.floor(this.#credit)));
      if (count > 0) this.#release(rest.subarray(0, count));
      rest = rest.subarray(count);
    }
    if (rest.length > 0) this.#dropped.add(samplesToMs(this.#queue.push(rest), this.#rate));
    this.#report(nowMs);
  }

  /** Advances the clock. Call it every few milliseconds. */
  tick(nowMs: number): void {
    this.#pass(nowMs);
    this.#drain();
    this.#fill();
    this.#report(nowMs);
    if (this.#idleTimeoutMs === null || this.#idle || !this.#attached) return;
    if (nowMs - this.#lastAudioMs < this.#idleTimeoutMs) return;
    this.#idle = true;
    this.#listener.idled();
  }

  /** The connection is lost: waiting audio is dropped; silence continues without reports. */
  detach(): void {
    this.#attached = false;
    this.#queue.clear();
    this.#missing.clear();
    this.#dropped.clear();
  }

  /** The connection is back. */
  attach(nowMs: number): void {
    this.#pass(nowMs);
    this.#attached = true;
    this.#credit = msToSamples(INITIAL_CREDIT_MS, this.#rate);
    this.#due = 0;
    this.#lastAudioMs = nowMs;
    this.#idle = false;
  }

  #pass(nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#seenMs);
    this.#seenMs = Math.max(this.#seenMs, nowMs);
    const pace = this.#queue.length > 0 ? CATCH_UP_PACE : 1;
    const limit = msToSamples(CREDIT_LIMIT_MS, this.#rate);
    this.#credit = Math.min(limit, this.#credit + (elapsedMs * pace * this.#rate) / 1_000);
    this.#due += (Math.min(elapsedMs, LONGEST_STEP_MS) * EXPECTED_PACE * this.#rate) / 1_000;
  }

  #release(samples: Int16Array): void {
    this.#credit -= samples.length;
    this.#due = Math.max(0, this.#due - samples.length);
    this.#released += samples.length;
    this.#listener.released(samples, false);
  }

  #drain(): void {
    while (this.#queue.length > 0) {
      const count = Math.min(this.#queue.length, Math.max(0, Math.floor(this.#credit)));
      if (count === 0) return;
      this.#release(this.#queue.shift(count));
    }
  }

  #fill(): void {
    if (this.#queue.length > 0) return;
    while (this.#due >= this.#gap + this.#step) {
      this.#due -= this.#step;
      this.#released += this.#step;
      if (this.#attached) this.#missing.add(FRAME_MS);
      this.#listener.released(silence(this.#step), true);
    }
  }

  #report(nowMs: number): void {
    const missingMs = this.#missing.take(nowMs);
    if (missingMs > 0) this.#listener.underflowed(missingMs);
    const droppedMs = this.#dropped.take(nowMs);
    if (droppedMs > 0) this.#listener.overflowed(droppedMs);
  }
}

/** An amount that is reported at once the first time and then once per interval. */
class Report {
  #amount = 0;
  #reportedMs = Number.NEGATIVE_INFINITY;

  add(amount: number): void {
    this.#amount += amount;
  }

  clear(): void {
    this.#amount = 0;
  }

  take(nowMs: number): number {
    if (this.#amount === 0 || nowMs - this.#reportedMs < REPORT_INTERVAL_MS) return 0;
    const amount = this.#amount;
    this.#amount = 0;
    this.#reportedMs = nowMs;
    return amount;
  }
}

/** A bounded ring of samples that loses the oldest. Allocates memory only once something has to wait. */
class AudioQueue {
  readonly #capacity: number;
  #ring: Int16Array | null = null;
  #start = 0;
  length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Returns how many samples were lost, old or new. */
  push(samples: Int16Array): number {
    const kept =
      samples.length > this.#capacity ? samples.subarray(samples.length - this.#capacity) : samples;
    const lost = Math.max(0, this.length + kept.length - this.#capacity);
    this.#start = (this.#start + lost) % this.#capacity;
    this.length -= lost;
    const ring = (this.#ring ??= new Int16Array(this.#capacity));
    const at = (this.#start + this.length) % this.#capacity;
    const first = Math.min(kept.length, this.#capacity - at);
    ring.set(kept.subarray(0, first), at);
    ring.set(kept.subarray(first), 0);
    this.length += kept.length;
    return lost + samples.length - kept.length;
  }

  /** Up to `count` samples, fewer at the ring's seam; valid until the next `push`. */
  shift(count: number): Int16Array {
    const ring = this.#ring;
    if (ring === null) return silence(0);
    const taken = Math.min(count, this.length, this.#capacity - this.#start);
    const samples = ring.subarray(this.#start, this.#start + taken);
    this.#start = (this.#start + taken) % this.#capacity;
    this.length -= taken;
    return samples;
  }

  clear(): void {
    this.length = 0;
    this.#start = 0;
    this.#ring = null;
  }
}
