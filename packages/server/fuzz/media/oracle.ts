/** Decides whether the service has withstood an attack. */

/**
 * Two seconds of audio; a thread that answers nothing for three is replaced. Frames are compared and not times, because
 * a busy machine delays both sides; where it may delay one of them for longer, another limit is given.
 */
export const MAX_LAG_FRAMES = 100;
/** As much as 40 connections take that speak and hear (`thread-limits.ts`). */
export const MAX_HEAP_GROWTH_BYTES = 64 * 1_024 ** 2;
export const MAX_EXTERNAL_GROWTH_BYTES = 32 * 1_024 ** 2;
/**
 * Of the process with all its threads: also code that was compiled, and memory that the allocator keeps. 30,000
 * connections that leave 2 KiB each, or 100,000 packets that leave 640 bytes each, exceed it.
 */
export const MAX_RESIDENT_GROWTH_BYTES = 64 * 1_024 ** 2;
/** A connection has one socket, and one that has ended has none. */
export const MAX_DESCRIPTOR_GROWTH = 8;
/** Faults that are kept; the first few are enough. */
const MAX_FAULTS = 20;

/** Frames of one call since its beginning. */
export interface CallFrames {
  readonly callId: string;
  readonly sentByCaller: number;
  readonly heardByService: number;
  readonly sentByService: number;
  readonly receivedByCaller: number;
}

/** After a collection of the garbage of both threads. */
export interface Memory {
  /** Of the thread with the connections. */
  readonly heapBytes: number;
  readonly externalBytes: number;
  readonly residentBytes: number;
  /** Open files and sockets of the process. */
  readonly descriptors: number;
}

export class Oracle {
  readonly #faults: string[] = [];
  readonly #failed = Promise.withResolvers<void>();
  #count = 0;
  readonly #maxLagFrames: number;
  #longestLagFrames = 0;

  constructor(maxLagFrames = MAX_LAG_FRAMES) {
    this.#maxLagFrames = maxLagFrames;
  }

  get faults(): readonly string[] {
    return this.#faults;
  }

  /** Resolves at the first fault. */
  get failed(): Promise<void> {
    return this.#failed.promise;
  }

  get faultCount(): number {
    return this.#count;
  }

  /** Of all calls, since it was asked for last. */
  takeLongestLag(): number {
    const frames = this.#longestLagFrames;
    this.#longestLagFrames = 0;
    return frames;
  }

  fault(detail: string): void {
    this.#count += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(detail);
    this.#failed.resolve();
  }

  /** A call that is not attacked: what one side sends reaches the other. */
  judgeFrames(frames: CallFrames): void {
    const { callId, sentByCaller, heardByService, sentByService, receivedByCaller } = frames;
    this.#judgeLag(sentByCaller - heardByService, `the service has not heard the last frames of ${callId}`);
    this.#judgeLag(sentByService - receivedByCaller, `${callId} has not received the last frames`);
  }

  judgeMemory(before: Memory, after: Memory): void {
    this.#judgeGrowth("the heap of the thread", after.heapBytes - before.heapBytes, MAX_HEAP_GROWTH_BYTES);
    const external = after.externalBytes - before.externalBytes;
    this.#judgeGrowth("the buffers of the thread", external, MAX_EXTERNAL_GROWTH_BYTES);
    const resident = after.residentBytes - before.residentBytes;
    this.#judgeGrowth("the memory of the process", resident, MAX_RESIDENT_GROWTH_BYTES);
    const descriptors = after.descriptors - before.descriptors;
    if (descriptors > MAX_DESCRIPTOR_GROWTH) {
      this.fault(
        `${String(descriptors)} sockets were left open, and ${String(MAX_DESCRIPTOR_GROWTH)} may be`,
      );
    }
  }

  #judgeLag(frames: number, what: string): void {
    this.#longestLagFrames = Math.max(this.#longestLagFrames, frames);
    if (frames > this.#maxLagFrames)
      this.fault(`${what}: ${String(frames)}, and ${String(this.#maxLagFrames)} may be`);
  }

  #judgeGrowth(what: string, bytes: number, limit: number): void {
    if (bytes > limit) this.fault(`${what} grew by ${inMib(bytes)} MiB, and ${inMib(limit)} may be`);
  }
}

function inMib(bytes: number): string {
  return (bytes / 1_024 ** 2).toFixed(0);
}
