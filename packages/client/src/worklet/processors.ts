/**
 * The processors of the audio worklet: one resamples the microphone to the rate of the call, one plays the agent. This
 * file is bundled to text (`worklet-code.ts`), because a worklet is loaded from a URL and cannot be imported.
 */

import { floatsOf, FrameCutter } from "./frame-cutter.ts";
import { JitterBuffer } from "./jitter-buffer.ts";
import {
  CAPTURE,
  type CaptureOptions,
  PLAYOUT,
  type PlayoutMessage,
  type PlayoutOptions,
} from "./protocol.ts";
import { Resampler } from "./resampler.ts";

/** The part of the worklet scope that is used; the compiler has no types for it. */
interface WorkletScope {
  readonly sampleRate: number;
  readonly AudioWorkletProcessor: new () => { readonly port: MessagePort };
  readonly registerProcessor: (name: string, processor: unknown) => void;
}

const scope = globalThis as unknown as WorkletScope;

/** Frames of 20 ms, as everywhere in the service. */
const FRAMES_PER_SECOND = 50;
/** Samples of one call of `process`. */
const QUANTUM = 128;

class Capture extends scope.AudioWorkletProcessor {
  readonly #resampler: Resampler;
  readonly #cutter: FrameCutter;
  readonly #mixed = new Float32Array(QUANTUM);
  #closed = false;

  constructor({ processorOptions: { rateHz } }: { readonly processorOptions: CaptureOptions }) {
    super();
    this.#resampler = new Resampler(scope.sampleRate, rateHz);
    this.#cutter = new FrameCutter(Math.round(rateHz / FRAMES_PER_SECOND), (frame) => {
      this.port.postMessage(frame.buffer, [frame.buffer]);
    });
    this.port.addEventListener("message", () => {
      this.#closed = true;
    });
    this.port.start();
  }

  process([channels = []]: Float32Array[][]): boolean {
    // Without a source there are no channels: send silence.
    this.#mixed.fill(0);
    for (const channel of channels) {
      for (let i = 0; i < QUANTUM; i += 1) {
        this.#mixed[i] = (this.#mixed[i] ?? 0) + (channel[i] ?? 0) / channels.length;
      }
    }
    this.#cutter.push(this.#resampler.push(this.#mixed));
    return !this.#closed;
  }
}

class Playout extends scope.AudioWorkletProcessor {
  readonly #resampler: Resampler;
  readonly #buffer = new JitterBuffer(scope.sampleRate);
  #closed = false;

  constructor({ processorOptions: { rateHz } }: { readonly processorOptions: PlayoutOptions }) {
    super();
    this.#resampler = new Resampler(rateHz, scope.sampleRate);
    this.port.addEventListener("message", ({ data }: MessageEvent<PlayoutMessage>) => this.#take(data));
    this.port.start();
  }

  #take(message: PlayoutMessage): void {
    if (message === "close") this.#closed = true;
    else if (message === "clear") {
      this.#buffer.clear();
      this.#resampler.reset();
    } else this.#buffer.push(this.#resampler.push(floatsOf(new Int16Array(message))));
  }

  process(_inputs: Float32Array[][], [channels = []]: Float32Array[][]): boolean {
    const [first, ...others] = channels;
    if (first !== undefined) {
      this.#buffer.read(first);
      for (const other of others) other.set(first);
    }
    return !this.#closed;
  }
}

scope.registerProcessor(CAPTURE, Capture);
scope.registerProcessor(PLAYOUT, Playout);
