/**
 * Fake recogniser: it returns the text that the test sets for the audio pushed. With no delay it answers within the
 * same turn of the event loop, though never before `request` has returned.
 */

import {
  STT_MAX_UTTERANCE_MS,
  STT_SAMPLE_RATE_HZ,
  type SttEngine,
  type SttListener,
  type SttStream,
} from "../stt.ts";

export interface FakeSttOptions {
  /** From a request to its answer. Default 0. */
  readonly delayMs?: number;
  /**
   * Text of the n-th utterance (from 1) of a stream, given all audio pushed so far; an empty text is not understood.
   * Default: `FAKE_STT_TEXT` when anything in it is loud.
   */
  readonly says?: (utterance: number, samples: Int16Array) => string;
  /** Every request hangs, or fails. */
  readonly broken?: "hangs" | "fails";
  /** `open` throws. */
  readonly opensNot?: boolean;
}

export const FAKE_STT_TEXT = "Hello there.";
/** Any sample this loud (about -40 dB of full scale) counts as speech by default. */
export const FAKE_STT_LOUD = 300;

const MAX_SAMPLES = (STT_MAX_UTTERANCE_MS * STT_SAMPLE_RATE_HZ) / 1_000;

export interface FakeStt extends SttEngine {
  /** Streams that are open now, to check that a call leaves none open. */
  openStreams(): number;
}

export function openFakeStt(options: FakeSttOptions = {}): FakeStt {
  const streams = new Set<FakeStream>();
  let isClosed = false;
  return {
    name: "fake",
    openStreams: () => streams.size,
    open: (_options, listener) => {
      if (options.opensNot === true) throw new Error("the recogniser did not open");
      const stream = new FakeStream(options, listener, () => streams.delete(stream));
      streams.add(stream);
      if (isClosed) stream.fail("the fake is closed");
      return stream;
    },
    close: () => {
      isClosed = true;
      for (const stream of streams) stream.fail("the fake was closed");
      return Promise.resolve();
    },
  };
}

function textOfLoud(_utterance: number, samples: Int16Array): string {
  return samples.some((sample) => Math.abs(sample) > FAKE_STT_LOUD) ? FAKE_STT_TEXT : "";
}

interface Utterance {
  /** From 1, in the order of opening. */
  readonly number: number;
  readonly parts: Int16Array[];
  sampleCount: number;
}

interface PendingRequest {
  readonly utteranceId: number;
  readonly revision: number;
  timer: NodeJS.Timeout | null;
}

class FakeStream implements SttStream {
  readonly #options: FakeSttOptions;
  readonly #listener: SttListener;
  readonly #whenClosed: () => void;
  readonly #utterances = new Map<number, Utterance>();
  readonly #pending = new Set<PendingRequest>();
  #count = 0;
  #failure: string | null;
  #isClosed = false;

  constructor(options: FakeSttOptions, listener: SttListener, whenClosed: () => void) {
    this.#options = options;
    this.#listener = listener;
    this.#whenClosed = whenClosed;
    this.#failure = options.broken === "fails" ? "broken on purpose" : null;
  }

  open(utteranceId: number): void {
    if (this.#isClosed) return;
    this.#count += 1;
    this.#utterances.set(utteranceId, { number: this.#count, parts: [], sampleCount: 0 });
  }

  push(utteranceId: number, samples: Int16Array): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    utterance.parts.push(samples.slice());
    utterance.sampleCount += samples.length;
    while (utterance.sampleCount > MAX_SAMPLES)
      utterance.sampleCount -= utterance.parts.shift()?.length ?? utterance.sampleCount;
  }

  request(utteranceId: number, revision: number): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    const pending: PendingRequest = { utteranceId, revision, timer: null };
    this.#pending.add(pending);
    const { delayMs = 0, says = textOfLoud, broken } = this.#options;
    if (broken === "hangs" && this.#failure === null) return;
    const text = says(utterance.number, joined(utterance));
    const answer = (): void => {
      if (!this.#pending.delete(pending)) return;
      if (this.#failure === null) this.#listener.final(utteranceId, revision, text, text !== "");
      else this.#listener.failed(utteranceId, revision, new Error(this.#failure));
    };
    if (delayMs > 0) pending.timer = setTimeout(answer, delayMs);
    else queueMicrotask(answer);
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

  /** Fails pending requests and all later ones. */
  fail(reason: string): void {
    this.#failure = reason;
    for (const pending of this.#pending) {
      this.#drop(pending);
      this.#listener.failed(pending.utteranceId, pending.revision, new Error(reason));
    }
  }

  #drop(pending: PendingRequest): void {
    this.#pending.delete(pending);
    if (pending.timer !== null) clearTimeout(pending.timer);
  }
}

function joined({ parts, sampleCount }: Utterance): Int16Array {
  const samples = new Int16Array(sampleCount);
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}
