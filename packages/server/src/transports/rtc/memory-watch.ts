/**
 * Ends a thread that takes too much memory, before the runtime does: where a thread reaches the limit of its heap by one
 * large allocation, such as an array that grows, Node 24 aborts the whole process. Small objects alone end their thread.
 */

import { MAX_EXTERNAL_BYTES, MAX_HEAP_BYTES } from "./thread-limits.ts";

/** From one look to the next. An endless loop fills some 100 MiB in that time. */
const LOOK_INTERVAL_MS = 200;

export interface MemoryUse {
  readonly heapBytes: number;
  /** Buffers and WASM, which are not on the heap. */
  readonly externalBytes: number;
}

export interface MemoryWatchOptions {
  /** Also answers while the thread is in an endless loop. Rejects when it has ended. */
  readonly use: () => Promise<MemoryUse>;
  /** Called once. */
  readonly exceeded: () => void;
}

export class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setTimeout(() => void this.#look(), LOOK_INTERVAL_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const use = await this.#options.use().catch(() => null);
    if (use === null || this.#isStopped) return;
    if (use.heapBytes > MAX_HEAP_BYTES || use.externalBytes > MAX_EXTERNAL_BYTES) {
      this.stop();
      this.#options.exceeded();
    } else this.start();
  }
}
