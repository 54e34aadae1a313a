/**
 * Windows that wait for the worker. Streams alternate: a batch has at most one window of each, and a stream with more
 * goes to the end of the queue, so a stream that catches up cannot delay the others.
 */

import { VAD_WINDOW_SAMPLES } from "../../ports/vad.ts";

/**
 * Limit of waiting windows of one stream: 4 s of audio, 125 KB. It allows for a burst after a network stall or a
 * restart of the thread (0.3 s); later scores are of no use to a conversation.
 */
export const VAD_STREAM_QUEUE_WINDOWS = 125;

/** Limit of all waiting windows: 16 MB, which is 2 s of 250 streams and 0.8 s of the worker's time in full batches. */
export const VAD_QUEUE_WINDOWS = 16_384;

/** Limit of window buffers stored for reuse: as many as 300 streams push between two batches, 0.5 MB. */
const VAD_SPARE_WINDOWS = 512;

interface Waiting {
  readonly windows: Int16Array[];
  /** Windows before them that were left out. */
  skipped: number;
}

/** Where a batch is written, with place for its rows. */
export interface BatchRows {
  readonly streamIds: Int32Array;
  readonly windows: Int16Array;
  /** How many windows of the stream were left out before the one of the row. */
  readonly skipped: Int32Array;
}

export class WindowQueue {
  readonly #waiting = new Map<number, Waiting>();
  /** Streams that have windows waiting, in turn. */
  #turns: number[] = [];
  readonly #spare: Int16Array[] = [];
  #count = 0;

  /**
   * Copies the window. Where there is no room for it, the oldest window of the stream that is furthest behind is left out.
   * True: one was.
   */
  add(streamId: number, window: Int16Array): boolean {
    const behind = this.#behind(streamId);
    if (behind !== null) this.#skipOldest(behind);
    const copy = this.#spare.pop() ?? new Int16Array(VAD_WINDOW_SAMPLES);
    copy.set(window);
    this.#count += 1;
    const own = this.#waiting.get(streamId);
    if (own === undefined) {
      this.#waiting.set(streamId, { windows: [copy], skipped: 0 });
      this.#turns.push(streamId);
    } else own.windows.push(copy);
    return behind !== null;
  }

  /** Number of streams with a waiting window: the possible size of the next batch. */
  get readyCount(): number {
    return this.#waiting.size;
  }

  get windowCount(): number {
    return this.#count;
  }

  /** Moves up to `limit` windows of different streams into the rows; returns how many. */
  take(limit: number, { streamIds, windows, skipped }: BatchRows): number {
    const count = Math.min(limit, this.#turns.length);
    const taken = this.#turns.slice(0, count);
    this.#turns = this.#turns.slice(count);
    for (const [row, streamId] of taken.entries()) {
      const own = this.#waiting.get(streamId)!;
      const window = own.windows.shift()!;
      streamIds[row] = streamId;
      skipped[row] = own.skipped;
      own.skipped = 0;
      windows.set(window, row * VAD_WINDOW_SAMPLES);
      this.#recycle(window);
      if (own.windows.length === 0) this.#waiting.delete(streamId);
      else this.#turns.push(streamId);
    }
    this.#count -= count;
    return count;
  }

  remove(streamId: number): void {
    const own = this.#waiting.get(streamId);
    if (own === undefined) return;
    this.#waiting.delete(streamId);
    this.#turns = this.#turns.filter((id) => id !== streamId);
    this.#count -= own.windows.length;
    for (const window of own.windows) this.#recycle(window);
  }

  /** The stream that must lose a window before another one of `streamId` has room; null: there is room. */
  #behind(streamId: number): Waiting | null {
    const own = this.#waiting.get(streamId);
    if (own !== undefined && own.windows.length >= VAD_STREAM_QUEUE_WINDOWS) return own;
    return this.#count >= VAD_QUEUE_WINDOWS ? this.#longest() : null;
  }

  /** Null: each has one window only, so their number is the limit. */
  #longest(): Waiting | null {
    let longest: Waiting | null = null;
    for (const own of this.#waiting.values()) {
      if (own.windows.length > (longest?.windows.length ?? 1)) longest = own;
    }
    return longest;
  }

  #skipOldest(own: Waiting): void {
    const window = own.windows.shift();
    if (window === undefined) return;
    own.skipped += 1;
    this.#count -= 1;
    this.#recycle(window);
  }

  #recycle(window: Int16Array): void {
    if (this.#spare.length < VAD_SPARE_WINDOWS) this.#spare.push(window);
  }
}
