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

/** Limit of all waiting windows: 4 MB and about 0.2 s of the worker's time in full batches. */
export const VAD_QUEUE_WINDOWS = 4_096;

/** Limit of window buffers stored for reuse: as many as 300 streams push between two batches, 0.5 MB. */
const VAD_SPARE_WINDOWS = 512;

export class WindowQueue {
  readonly #waiting = new Map<number, Int16Array[]>();
  /** Streams that have windows waiting, in turn. */
  #turns: number[] = [];
  readonly #spare: Int16Array[] = [];
  #count = 0;

  /**
   * Copies the window. Null when it was accepted, otherwise the stream that is furthest behind, which must be closed.
   */
  add(streamId: number, window: Int16Array): number | null {
    const own = this.#waiting.get(streamId);
    if (own !== undefined && own.length >= VAD_STREAM_QUEUE_WINDOWS) return streamId;
    if (this.#count >= VAD_QUEUE_WINDOWS) return this.#longest();
    const copy = this.#spare.pop() ?? new Int16Array(VAD_WINDOW_SAMPLES);
    copy.set(window);
    this.#count += 1;
    if (own === undefined) {
      this.#waiting.set(streamId, [copy]);
      this.#turns.push(streamId);
    } else {
      own.push(copy);
    }
    return null;
  }

  /** Number of streams with a waiting window: the possible size of the next batch. */
  get readyCount(): number {
    return this.#waiting.size;
  }

  get windowCount(): number {
    return this.#count;
  }

  /** Moves up to `limit` windows of different streams into the two arrays; returns how many. */
  take(limit: number, streamIds: Int32Array, windows: Int16Array): number {
    const count = Math.min(limit, this.#turns.length);
    const taken = this.#turns.slice(0, count);
    this.#turns = this.#turns.slice(count);
    for (const [row, streamId] of taken.entries()) {
      const own = this.#waiting.get(streamId)!;
      const window = own.shift()!;
      streamIds[row] = streamId;
      windows.set(window, row * VAD_WINDOW_SAMPLES);
      this.#recycle(window);
      if (own.length === 0) this.#waiting.delete(streamId);
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
    this.#count -= own.length;
    for (const window of own) this.#recycle(window);
  }

  #recycle(window: Int16Array): void {
    if (this.#spare.length < VAD_SPARE_WINDOWS) this.#spare.push(window);
  }

  #longest(): number {
    let longest = -1;
    let length = 0;
    for (const [streamId, own] of this.#waiting) {
      if (own.length > length) [longest, length] = [streamId, own.length];
    }
    return longest;
  }
}
