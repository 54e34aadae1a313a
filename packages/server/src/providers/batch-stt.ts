/**
 * What recognisers that take a whole utterance at a time have in common: the audio of open utterances, one task per
 * request, and the promise of the port that each request is answered once, or fails once, or was abandoned.
 */

import {
  STT_MAX_UTTERANCE_MS,
  STT_SAMPLE_RATE_HZ,
  type SttEngine,
  type SttListener,
  type SttStream,
} from "../ports/stt.ts";

/**
 * Utterances open at once in one stream. A call has one under way and one whose transcript is still awaited; more than
 * that come of a caller who speaks faster than the recogniser answers. The oldest is given up then.
 */
const STT_MAX_OPEN_UTTERANCES = 8;

/**
 * Unanswered requests of one utterance: the newest and the one that it overtook, whose answer still shows early that
 * there are words. An older one is given up, so that a slow recogniser does not work on what nobody waits for.
 */
export const STT_MAX_REQUESTS_PER_UTTERANCE = 2;

/** Shorter audio has no word in it, and servers refuse it: it is answered as not understood without asking. */
export const STT_MIN_UTTERANCE_MS = 100;

const SAMPLES_PER_MS = STT_SAMPLE_RATE_HZ / 1000;
const MAX_UTTERANCE_SAMPLES = STT_MAX_UTTERANCE_MS * SAMPLES_PER_MS;

export interface BatchRecogniser {
  readonly name: string;
  /**
   * The text of 16 kHz mono audio of 0.1 to 60 s that the recogniser may keep; empty when nothing was understood.
   * Settles within the recogniser's own limit. Its outcome after `signal` aborts is not heard.
   */
  transcribe(samples: Int16Array, language: string | null, signal: AbortSignal): Promise<string>;
  /** What the operator should know of a call in this language; null when there is nothing to say. */
  warningFor(language: string): string | null;
  /** See `SttEngine`. */
  readonly unusable?: () => string | null;
  /** Called once, after every transcription was aborted. */
  close(): Promise<void>;
}

/** Audio is kept in arrays of one second, so that a frame of 20 ms costs a copy and no allocation. */
const CHUNK_SAMPLES = STT_SAMPLE_RATE_HZ;

/** The audio of one utterance, the newest minute of it. */
class UtteranceAudio {
  /** All full but the last. */
  readonly #chunks: Int16Array[] = [];
  /** Samples of the first chunk that are too old. */
  #dropped = 0;
  /** Samples of all chunks, those that are too old included. */
  #filled = 0;

  push(samples: Int16Array): void {
    for (let taken = 0; taken < samples.length;) {
      const at = this.#filled % CHUNK_SAMPLES;
      if (at === 0) this.#chunks.push(new Int16Array(CHUNK_SAMPLES));
      const part = samples.subarray(taken, taken + CHUNK_SAMPLES - at);
      this.#chunks.at(-1)?.set(part, at);
      this.#filled += part.length;
      taken += part.length;
      this.#dropped = Math.max(this.#dropped, this.#filled - MAX_UTTERANCE_SAMPLES);
      if (this.#dropped < CHUNK_SAMPLES) continue;
      // A part is at most one chunk long, so no more than one can have become too old.
      this.#chunks.shift();
      this.#dropped -= CHUNK_SAMPLES;
      this.#filled -= CHUNK_SAMPLES;
    }
  }

  /** A new array. */
  join(): Int16Array {
    const all = new Int16Array(this.#filled - this.#dropped);
    for (const [index, chunk] of this.#chunks.entries()) {
      const start = index === 0 ? this.#dropped : 0;
      const at = index * CHUNK_SAMPLES;
      all.set(chunk.subarray(start, this.#filled - at), at + start - this.#dropped);
    }
    return all;
  }
}

interface Asked {
  readonly utteranceId: number;
  readonly revision: number;
  readonly abort: AbortController;
}

class BatchStream implements SttStream {
  readonly #transcribe: (samples: Int16Array, signal: AbortSignal) => Promise<string>;
  readonly #listener: SttListener;
  readonly #whenClosed: () => void;
  readonly #utterances = new Map<number, UtteranceAudio>();
  readonly #asked = new Set<Asked>();
  #isClosed = false;

  constructor(
    transcribe: (samples: Int16Array, signal: AbortSignal) => Promise<string>,
    listener: SttListener,
    whenClosed: () => void,
  ) {
    this.#transcribe = transcribe;
    this.#listener = listener;
    this.#whenClosed = whenClosed;
  }

  open(utteranceId: number): void {
    if (this.#isClosed || this.#utterances.has(utteranceId)) return;
    this.#utterances.set(utteranceId, new UtteranceAudio());
    const [oldest] = this.#utterances.keys();
    if (this.#utterances.size <= STT_MAX_OPEN_UTTERANCES || oldest === undefined) return;
    this.#utterances.delete(oldest);
    this.#failWhere((asked) => asked.utteranceId === oldest, "too many utterances are open");
  }

  push(utteranceId: number, samples: Int16Array): void {
    this.#utterances.get(utteranceId)?.push(samples);
  }

  request(utteranceId: number, revision: number): void {
    const audio = this.#utterances.get(utteranceId);
    if (audio === undefined) return;
    this.#giveUpOvertaken(utteranceId);
    const asked: Asked = { utteranceId, revision, abort: new AbortController() };
    this.#asked.add(asked);
    this.#answer(asked, audio.join()).catch((error: unknown) => {
      this.#fail(asked, error instanceof Error ? error : new Error(String(error)));
    });
  }

  abandon(utteranceId: number): void {
    this.#utterances.delete(utteranceId);
    for (const asked of this.#asked) if (asked.utteranceId === utteranceId) this.#drop(asked);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#utterances.clear();
    for (const asked of this.#asked) this.#drop(asked);
    this.#whenClosed();
  }

  failAll(reason: string): void {
    this.#failWhere(() => true, reason);
  }

  async #answer(asked: Asked, samples: Int16Array): Promise<void> {
    const isTooShort = samples.length < STT_MIN_UTTERANCE_MS * SAMPLES_PER_MS;
    const text = isTooShort
      ? await Promise.resolve("")
      : (await this.#transcribe(samples, asked.abort.signal)).trim();
    if (!this.#asked.delete(asked)) return;
    this.#listener.final(asked.utteranceId, asked.revision, text, text !== "");
  }

  /** Makes room for one more request of this utterance. */
  #giveUpOvertaken(utteranceId: number): void {
    const earlier = [...this.#asked].filter((asked) => asked.utteranceId === utteranceId);
    for (const asked of earlier.slice(0, Math.max(0, earlier.length + 1 - STT_MAX_REQUESTS_PER_UTTERANCE))) {
      asked.abort.abort();
      // Nobody is told anything while they are still asking.
      queueMicrotask(() =>
        this.#fail(asked, new Error("overtaken by newer requests for the same utterance")),
      );
    }
  }

  #drop(asked: Asked): void {
    this.#asked.delete(asked);
    asked.abort.abort();
  }

  #fail(asked: Asked, error: Error): void {
    if (!this.#asked.has(asked)) return;
    this.#drop(asked);
    this.#listener.failed(asked.utteranceId, asked.revision, error);
  }

  #failWhere(matches: (asked: Asked) => boolean, reason: string): void {
    for (const asked of this.#asked) if (matches(asked)) this.#fail(asked, new Error(reason));
  }
}

export function openBatchStt(recogniser: BatchRecogniser): SttEngine {
  const streams = new Set<BatchStream>();
  let closing: Promise<void> | null = null;
  return {
    name: recogniser.name,
    unusable: () => recogniser.unusable?.() ?? null,
    open: ({ language }, listener) => {
      const stream = new BatchStream(
        async (samples, signal) => {
          if (closing !== null) throw new Error("the recogniser is closed");
          return recogniser.transcribe(samples, language, signal);
        },
        listener,
        () => streams.delete(stream),
      );
      streams.add(stream);
      const warning = language === null ? null : recogniser.warningFor(language);
      // Not before the caller holds the stream.
      if (warning !== null) queueMicrotask(() => streams.has(stream) && listener.warned(warning));
      return stream;
    },
    close: () => {
      closing ??= (async () => {
        for (const stream of streams) stream.failAll("the recogniser was closed");
        await recogniser.close();
      })();
      return closing;
    },
  };
}
