/** Program of the process of a recogniser that works while audio arrives. */

import { messageOf } from "../../pacing/error-text.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { releasedOne, runModel, type Tell } from "../local-child/child-program.ts";
import { loadOnline, toFloats, type OnlineRecogniser, type SherpaStream } from "./recognisers.ts";
import type { ToStreamingChild } from "./streaming-protocol.ts";

/** Silence after the audio of a stream, so that its last words leave the model, which looks ahead by up to 0.6 s. */
const TAIL = new Float32Array(0.66 * STT_SAMPLE_RATE_HZ);

interface Stream {
  readonly id: number;
  readonly native: SherpaStream;
  text: string;
  isFinishing: boolean;
}

/** Streams take turns, a step each, so that a long one delays no other by more than a step. */
class Streams {
  readonly #recogniser: OnlineRecogniser;
  readonly #tell: Tell<string>;
  readonly #all = new Map<number, Stream>();
  /** Those that may have work, the next one first. */
  readonly #active = new Set<Stream>();
  #isScheduled = false;

  constructor(recogniser: OnlineRecogniser, tell: Tell<string>) {
    this.#recogniser = recogniser;
    this.#tell = tell;
  }

  take(message: ToStreamingChild): void {
    const { id } = message;
    try {
      if (message.type === "drop") this.#remove(id);
      else if (message.type === "finish") this.#finish(id);
      else this.#push(id, toFloats(message.samples));
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #push(id: number, samples: Float32Array): void {
    const stream = this.#all.get(id) ?? this.#open(id);
    stream.native.acceptWaveform({ samples, sampleRate: STT_SAMPLE_RATE_HZ });
    this.#wake(stream);
  }

  #open(id: number): Stream {
    const stream = { id, native: this.#recogniser.createStream(), text: "", isFinishing: false };
    this.#all.set(id, stream);
    return stream;
  }

  #finish(id: number): void {
    const stream = this.#all.get(id) ?? this.#open(id);
    stream.native.acceptWaveform({ samples: TAIL, sampleRate: STT_SAMPLE_RATE_HZ });
    stream.isFinishing = true;
    this.#wake(stream);
  }

  #remove(id: number): void {
    const stream = this.#all.get(id);
    if (stream === undefined) return;
    this.#all.delete(id);
    this.#active.delete(stream);
    releasedOne();
  }

  #fail(id: number, error: unknown): void {
    this.#remove(id);
    this.#tell({ type: "failed", id, detail: messageOf(error) });
  }

  #wake(stream: Stream): void {
    this.#active.add(stream);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#step();
    });
  }

  #step(): void {
    const [stream] = this.#active;
    if (stream === undefined) return;
    this.#active.delete(stream);
    try {
      this.#work(stream);
    } catch (error) {
      this.#fail(stream.id, error);
    }
    const [next] = this.#active;
    if (next !== undefined) this.#wake(next);
  }

  #work(stream: Stream): void {
    const { id, native } = stream;
    if (!this.#recogniser.isReady(native)) {
      if (!stream.isFinishing) return;
      const answer = this.#recogniser.getResult(native).text.trim();
      this.#remove(id);
      this.#tell({ type: "answered", id, answer });
      return;
    }
    this.#recogniser.decode(native);
    const text = this.#recogniser.getResult(native).text.trim();
    if (text !== stream.text) {
      stream.text = text;
      this.#tell({ type: "partial", id, text });
    }
    this.#active.add(stream);
  }
}

runModel<ToStreamingChild, string>((order, tell) => {
  const streams = new Streams(loadOnline(order), tell);
  return (message) => streams.take(message);
});
