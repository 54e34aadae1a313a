/**
 * A recogniser that needs no model: it says what the test tells it to, for as much speech as it was given. With no delay
 * it answers within the same turn of the event loop.
 */

import type { SttEngine, SttListener, SttStream } from "../stt.ts";

export interface FakeSttOptions {
  /** From a request to its answer. Default 0. */
  readonly delayMs?: number;
  /** What was said in all audio pushed so far; an empty text is not understood. Default: "hello" when not silent. */
  readonly transcribe?: (samples: Int16Array) => string;
  /** Every request hangs, or fails. */
  readonly broken?: "hangs" | "fails";
}

/** Default `transcribe`: any sample this loud (about -40 dB of full scale) counts as speech. */
export const FAKE_STT_LOUD = 300;

function hello(samples: Int16Array): string {
  return samples.some((sample) => Math.abs(sample) > FAKE_STT_LOUD) ? "hello" : "";
}

export interface FakeStt extends SttEngine {
  /** Streams that are open now, to check that a call leaves none behind. */
  openStreams(): number;
}

export function openFakeStt(options: FakeSttOptions = {}): FakeStt {
  const streams = new Set<FakeStream>();
  let isClosed = false;
  return {
    name: "fake",
    openStreams: () => streams.size,
    open: (_options, listener) => {
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

interface Asked {
  readonly utteranceId: number;
  readonly revision: number;
}

class FakeStream implements SttStream {
  readonly #options: FakeSttOptions;
  readonly #listener: SttListener;
  readonly #closed: () => void;
  readonly #utterances = new Map<number, Int16Array[]>();
  readonly #asked = new Set<Asked>();
  #failure: string | null = null;
  #isClosed = false;

  constructor(options: FakeSttOptions, listener: SttListener, closed: () => void) {
    this.#options = options;
    this.#listener = listener;
    this.#closed = closed;
    if (options.broken === "fails") this.#failure = "broken on purpose";
  }

  open(utteranceId: number): void {
    if (!this.#isClosed) this.#utterances.set(utteranceId, []);
  }

  push(utteranceId: number, samples: Int16Array): void {
    this.#utterances.get(utteranceId)?.push(samples.slice());
  }

  request(utteranceId: number, revision: number): void {
    const parts = this.#utterances.get(utteranceId);
    if (parts === undefined) return;
    const asked: Asked = { utteranceId, revision };
    this.#asked.add(asked);
    const samples = Int16Array.from(parts.flatMap((part) => [...part]));
    const { delayMs = 0, transcribe = hello, broken } = this.#options;
    if (broken === "hangs" && this.#failure === null) return;
    const answer = (): void => {
      if (!this.#asked.delete(asked)) return;
      if (this.#failure !== null) {
        this.#listener.failed(utteranceId, revision, new Error(this.#failure));
        return;
      }
      const text = transcribe(samples);
      this.#listener.final(utteranceId, revision, text, text !== "");
    };
    if (delayMs > 0) setTimeout(answer, delayMs);
    else queueMicrotask(answer);
  }

  abandon(utteranceId: number): void {
    this.#utterances.delete(utteranceId);
    for (const asked of this.#asked) if (asked.utteranceId === utteranceId) this.#asked.delete(asked);
  }

  close(): void {
    this.#utterances.clear();
    this.#asked.clear();
    this.#isClosed = true;
    this.#closed();
  }

  /** Fails what is under way and whatever is asked later. */
  fail(reason: string): void {
    this.#failure = reason;
    for (const asked of this.#asked) {
      this.#asked.delete(asked);
      this.#listener.failed(asked.utteranceId, asked.revision, new Error(reason));
    }
  }
}
