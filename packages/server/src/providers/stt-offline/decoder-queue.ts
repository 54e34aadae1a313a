/** Decodes the utterances of all calls one after the other in one thread. */

import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { ThreadQueue } from "../thread-queue.ts";
import type { StartDecoderThread } from "./decoder-thread.ts";

/**
 * Limit of waiting utterances: at 0.2 to 0.5 s each, the last one would be answered after 30 s, later than any call
 * waits.
 */
export const DECODER_QUEUE_UTTERANCES = 64;

/** Limit of one utterance: no phrase of the grammar is longer, and longer speech would delay the others. */
export const DECODER_MAX_UTTERANCE_MS = 20_000;

/** Time limit of one utterance; the longest one takes 6 s on a loaded machine. */
export const DECODER_TIMEOUT_MS = 20_000;

/** Limit from start to a loaded model: 0.6 s here; a minute allows for a cold disk. */
export const DECODER_LOAD_TIMEOUT_MS = 60_000;

export class DecoderQueue {
  readonly #queue: ThreadQueue<Int16Array, string>;
  readonly unusable: () => string | null;

  constructor(
    start: StartDecoderThread,
    log: (message: string) => void,
    answerTimeoutMs = DECODER_TIMEOUT_MS,
  ) {
    this.#queue = new ThreadQueue(start, {
      name: "the offline recogniser",
      request: "utterance",
      waiting: DECODER_QUEUE_UTTERANCES,
      loadTimeoutMs: DECODER_LOAD_TIMEOUT_MS,
      answerTimeoutMs,
      log,
    });
    this.unusable = this.#queue.unusable;
  }

  /** Resolves when the first thread has loaded its model; rejects when it cannot. */
  load(): Promise<void> {
    return this.#queue.load();
  }

  /** Transfers the samples' memory. Rejects when the queue is full, on a failure, and soon after `signal` aborts. */
  decode(samples: Int16Array, signal: AbortSignal): Promise<string> {
    const isTooLong = samples.length > (DECODER_MAX_UTTERANCE_MS * STT_SAMPLE_RATE_HZ) / 1000;
    return isTooLong ? Promise.resolve("") : this.#queue.ask(samples, signal);
  }

  close(): Promise<void> {
    return this.#queue.close();
  }
}
