/** Frames that wait for their 20 ms, and the marks between them. */

/**
 * The service is three frames ahead; the others come together when this thread was late. What waits longer than 300 ms
 * is dropped, and the delay lasts until the next pause.
 */
export const MAX_FRAMES = 15;
/** Marks come every 200 ms of audio; this many wait only where a caller sends nothing else. */
export const MAX_MARKS = 64;

type Entry =
  | { readonly kind: "frame"; readonly samples: Int16Array }
  | { readonly kind: "mark"; readonly position: number };

export class SendQueue {
  #entries: Entry[] = [];
  #frames = 0;
  #marks = 0;

  /** Copied. False: the queue is full, and the frame was dropped. */
  push(samples: Int16Array): boolean {
    if (this.#frames >= MAX_FRAMES) return false;
    this.#entries.push({ kind: "frame", samples: samples.slice() });
    this.#frames += 1;
    return true;
  }

  /** Frames that wait. */
  get waiting(): number {
    return this.#frames;
  }

  mark(position: number): void {
    if (this.#marks >= MAX_MARKS) return;
    this.#entries.push({ kind: "mark", position });
    this.#marks += 1;
  }

  /** Marks whose frames were taken, in their order: to be called when the last frame has had its 20 ms. */
  passed(): number[] {
    const positions: number[] = [];
    for (const entry of this.#entries) {
      if (entry.kind === "frame") break;
      positions.push(entry.position);
    }
    this.#entries.splice(0, positions.length);
    this.#marks -= positions.length;
    return positions;
  }

  /** The next frame; null: there is none. Call `passed` first. */
  take(): Int16Array | null {
    const [first] = this.#entries;
    if (first?.kind !== "frame") return null;
    this.#entries.shift();
    this.#frames -= 1;
    return first.samples;
  }

  /** Frames and marks are dropped. */
  clear(): void {
    this.#entries = [];
    this.#frames = 0;
    this.#marks = 0;
  }
}
