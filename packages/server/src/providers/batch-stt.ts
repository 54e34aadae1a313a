/**
 * Shared code of recognisers that transcribe a whole utterance at a time: the audio of open utterances, one task per
 * request, and the guarantee of the port that each request is answered once, fails once, or was abandoned.
 */

import { STT_SAMPLE_RATE_HZ, type SttEngine, type SttListener, type SttStream } from "../ports/stt.ts";
import type { EngineOrigin } from "../ports/engine-origin.ts";
import { errorOf } from "../pacing/error-text.ts";
import { UtteranceAudio } from "./utterance-audio.ts";

/**
 * Limit of open utterances in one stream. A call has one that is being spoken and one whose transcript is pending; it
 * has more only if the caller speaks faster than the recogniser answers. Then the oldest one is dropped.
 */
export const STT_MAX_OPEN_UTTERANCES = 8;

/**
 * Limit of pending requests of one utterance: the newest one, and the one before it, whose answer still shows early
 * that there are words. Older ones are aborted, so that a slow recogniser does no unneeded work.
 */
export const STT_MAX_REQUESTS_PER_UTTERANCE = 2;

/** Shorter audio contains no word, and servers refuse it. It is answered as not understood without a request. */
export const STT_MIN_UTTERANCE_MS = 100;

const SAMPLES_PER_MS = STT_SAMPLE_RATE_HZ / 1000;

export interface BatchRecogniser {
  readonly name: string;
  /** Unset: it runs on this machine. */
  readonly origin?: EngineOrigin;
  /**
   * Transcribes 16 kHz mono audio of 0.1 to 60 s, which the recogniser may retain. Empty when nothing was understood.
   * Settles within the recogniser's own limit. The outcome is ignored once `signal` aborts.
   */
  transcribe(samples: Int16Array, language: string | null, signal: AbortSignal): Promise<string>;
  /** A warning for the operator about a call in this language; null when there is none. */
  warningFor(language: string): string | null;
  /** See `SttEngine`. */
  readonly unusable?: () => string | null;
  readonly examplePhrases?: readonly string[];
  /** Called once, after every transcription was aborted. */
  close(): Promise<void>;
}

interface PendingRequest {
  readonly utteranceId: number;
  readonly revision: number;
  readonly abort: AbortController;
}

class BatchStream implements SttStream {
  readonly #transcribe: (samples: Int16Array, signal: AbortSignal) => Promise<string>;
  readonly #listener: SttListener;
  readonly #whenClosed: () => void;
  readonly #utterances = new Map<number, UtteranceAudio>();
  readonly #pending = new Set<PendingRequest>();
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
    this.#failWhere((pending) => pending.utteranceId === oldest, "too many utterances are open");
  }

  push(utteranceId: number, samples: Int16Array): void {
    this.#utterances.get(utteranceId)?.push(samples);
  }

  request(utteranceId: number, revision: number): void {
    const audio = this.#utterances.get(utteranceId);
    if (audio === undefined) return;
    this.#giveUpOvertaken(utteranceId);
    const pending: PendingRequest = { utteranceId, revision, abort: new AbortController() };
    this.#pending.add(pending);
    this.#answer(pending, audio.join()).catch((error: unknown) => {
      this.#fail(pending, errorOf(error));
    });
  }

  abandon(utteranceId: number): void {
    this.#utterances.delete(utteranceId);
    for (const pending of this.#pending) if (pending.utteranceId === utteranceId) this.#drop(pending);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#utterances.clear();
    for (const pending of this.#pending) this.#drop(pending);
    this.#whenClosed();
  }

  failAll(reason: string): void {
    this.#failWhere(() => true, reason);
  }

  async #answer(pending: PendingRequest, samples: Int16Array): Promise<void> {
    const isTooShort = samples.length < STT_MIN_UTTERANCE_MS * SAMPLES_PER_MS;
    const text = isTooShort
      ? await Promise.resolve("")
      : (await this.#transcribe(samples, pending.abort.signal)).trim();
    if (!this.#pending.delete(pending)) return;
    this.#listener.final(pending.utteranceId, pending.revision, text, text !== "");
  }

  /** Makes room for one more request of this utterance. */
  #giveUpOvertaken(utteranceId: number): void {
    const earlier = [...this.#pending].filter((pending) => pending.utteranceId === utteranceId);
    for (const pending of earlier.slice(
      0,
      Math.max(0, earlier.length + 1 - STT_MAX_REQUESTS_PER_UTTERANCE),
    )) {
      pending.abort.abort();
      // The listener is not called from within the caller's own request.
      queueMicrotask(() =>
        this.#fail(pending, new Error("overtaken by newer requests for the same utterance")),
      );
    }
  }

  #drop(pending: PendingRequest): void {
    this.#pending.delete(pending);
    pending.abort.abort();
  }

  #fail(pending: PendingRequest, error: Error): void {
    if (!this.#pending.has(pending)) return;
    this.#drop(pending);
    this.#listener.failed(pending.utteranceId, pending.revision, error);
  }

  #failWhere(matches: (pending: PendingRequest) => boolean, reason: string): void {
    for (const pending of this.#pending) if (matches(pending)) this.#fail(pending, new Error(reason));
  }
}

export function openBatchStt(recogniser: BatchRecogniser): SttEngine {
  const streams = new Set<BatchStream>();
  let closing: Promise<void> | null = null;
  return {
    name: recogniser.name,
    ...recogniser.origin,
    repeatsAudio: true,
    unusable: () => recogniser.unusable?.() ?? null,
    ...(recogniser.examplePhrases === undefined ? {} : { examplePhrases: recogniser.examplePhrases }),
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
      // Only after the caller has received the stream.
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
