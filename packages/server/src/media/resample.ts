/**
 * Sample-rate conversion, stateful per stream, so that chunk borders are inaudible: by the Speex resampler (WASM), and
 * where one rate is twice the other by a half-band filter, which takes a third of the time. Speex has quality 5: pass
 * band flat to 0.2 dB at 7 of 8 kHz, aliases below the 16-bit floor, 16 to 48 µs per 20 ms frame.
 */

import { HalfBand } from "./half-band.ts";

/** Calls into the compiled module; pointers are byte offsets into its memory. */
interface SpeexModule {
  /** Replaced when the memory grows: read it again for each use. */
  readonly HEAP16: Int16Array;
  readonly HEAP32: Int32Array;
  _malloc(bytes: number): number;
  _speex_resampler_init(
    channels: number,
    inHz: number,
    outHz: number,
    quality: number,
    error: number,
  ): number;
  _speex_resampler_destroy(resampler: number): void;
  _speex_resampler_process_interleaved_int(
    resampler: number,
    input: number,
    inputLength: number,
    output: number,
    outputLength: number,
  ): number;
}

/** The part of `process` that the module's glue code touches. */
export type ProcessListeners = Pick<NodeJS.EventEmitter, "listeners" | "removeListener">;

export const LOWEST_RATE_HZ = 8_000;
export const HIGHEST_RATE_HZ = 48_000;

const QUALITY = 5;
/** Length of the filter of quality 5 in samples, before it is stretched for a lower output rate (speex resample.c). */
const FILTER_SAMPLES = 80;
/** Input of one call into the module: 100 ms at the highest rate. Bounds the scratch memory shared by all streams. */
const SLICE_SAMPLES = 4_800;
const SLICE_OUTPUT_SAMPLES = (SLICE_SAMPLES * HIGHEST_RATE_HZ) / LOWEST_RATE_HZ + 64;

type StartSpeex = () => PromiseLike<SpeexModule>;

interface Speex {
  readonly module: SpeexModule;
  readonly input: number;
  readonly output: number;
  readonly inputLength: number;
  readonly outputLength: number;
}

let loading: Promise<void> | null = null;
let speex: Speex | null = null;

/**
 * Loads the module once; later calls wait for the first. Its glue code adds process-wide listeners that turn every
 * unhandled rejection into an abort: those, and only those, are removed again.
 *
 * @param process the global `process`
 */
export function initResampler(process: ProcessListeners): Promise<void> {
  loading ??= load(process);
  return loading;
}

async function load(process: ProcessListeners): Promise<void> {
  const events = ["uncaughtException", "unhandledRejection"] as const;
  // A CommonJS module with its own `default`: Node shows it one level deeper than bundlers do.
  const imported = (await import("speex-resampler/app/speex_wasm.js")) as unknown as {
    default: StartSpeex | { default: StartSpeex };
  };
  const start = typeof imported.default === "function" ? imported.default : imported.default.default;
  const before = events.map((event) => new Set(process.listeners(event)));
  const starting = start();
  events.forEach((event, i) => {
    for (const listener of process.listeners(event)) {
      if (before[i]?.has(listener) === true) continue;
      process.removeListener(event, listener as () => void);
    }
  });
  const module = await starting;
  speex = {
    module,
    input: module._malloc(SLICE_SAMPLES * 2),
    output: module._malloc(SLICE_OUTPUT_SAMPLES * 2),
    inputLength: module._malloc(4),
    outputLength: module._malloc(4),
  };
}

interface Filter {
  /** Samples of silence that push the last input through. */
  readonly latencySamples: number;
  /** In new memory. */
  push(samples: Int16Array): Int16Array;
  close?(): void;
}

/** One stream of mono samples from one rate to another. `close` it: its filter may live in the module's memory. */
export class Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  readonly #speex: Speex;
  /** Null: no samples have come. */
  #filter: Filter | null = null;
  #inputCount = 0;
  #outputCount = 0;

  constructor(fromHz: number, toHz: number) {
    for (const rate of [fromHz, toHz]) {
      if (!Number.isInteger(rate) || rate < LOWEST_RATE_HZ || rate > HIGHEST_RATE_HZ) {
        throw new RangeError(`cannot resample at ${String(rate)} Hz`);
      }
    }
    if (speex === null) throw new Error("the resampler is used before initResampler has finished");
    this.#speex = speex;
    this.fromHz = fromHz;
    this.toHz = toHz;
  }

  /** Returns new memory (or `samples` itself where nothing is to be done); may be empty while the filter fills. */
  push(samples: Int16Array): Int16Array {
    if (this.fromHz === this.toHz || samples.length === 0) return samples;
    this.#filter ??= this.#open();
    this.#inputCount += samples.length;
    const output = this.#filter.push(samples);
    this.#outputCount += output.length;
    return output;
  }

  /** The end of the stream: what is still in the filter. All output together is input length × ratio, rounded. */
  flush(): Int16Array {
    if (this.#filter === null) return new Int16Array(0);
    const expected = Math.round((this.#inputCount * this.toHz) / this.fromHz);
    const missing = Math.max(0, expected - this.#outputCount);
    const tail = this.#filter.push(new Int16Array(this.#filter.latencySamples + 8));
    this.close();
    return tail.length <= missing ? tail : tail.slice(0, missing);
  }

  /** Frees the filter; a later `push` starts a new stream. Idempotent. */
  close(): void {
    this.#filter?.close?.();
    this.#filter = null;
    this.#inputCount = 0;
    this.#outputCount = 0;
  }

  #open(): Filter {
    if (this.toHz === 2 * this.fromHz) return new HalfBand("double");
    if (this.fromHz === 2 * this.toHz) return new HalfBand("halve");
    return new SpeexFilter(this.#speex, this.fromHz, this.toHz);
  }
}

class SpeexFilter implements Filter {
  readonly latencySamples: number;
  readonly #speex: Speex;
  readonly #pointer: number;
  /** Output that only shows the empty filter; dropped, so that output sample 0 is input sample 0. */
  #toSkip: number;

  constructor(speex: Speex, fromHz: number, toHz: number) {
    const stretched = fromHz > toHz ? Math.ceil((FILTER_SAMPLES * fromHz) / toHz / 8) * 8 : FILTER_SAMPLES;
    this.latencySamples = stretched / 2;
    this.#speex = speex;
    const { module, inputLength } = speex;
    this.#pointer = module._speex_resampler_init(1, fromHz, toHz, QUALITY, inputLength);
    const error = module.HEAP32[inputLength >> 2];
    if (this.#pointer === 0 || error !== 0) {
      throw new Error(`the resampler did not start: ${String(error)}`);
    }
    this.#toSkip = Math.round((this.latencySamples * toHz) / fromHz);
  }

  close(): void {
    this.#speex.module._speex_resampler_destroy(this.#pointer);
  }

  push(samples: Int16Array): Int16Array {
    const { module, input, output, inputLength, outputLength } = this.#speex;
    const parts: Int16Array[] = [];
    let offset = 0;
    while (offset < samples.length) {
      const slice = samples.subarray(offset, offset + SLICE_SAMPLES);
      module.HEAP16.set(slice, input >> 1);
      module.HEAP32[inputLength >> 2] = slice.length;
      module.HEAP32[outputLength >> 2] = SLICE_OUTPUT_SAMPLES;
      const error = module._speex_resampler_process_interleaved_int(
        this.#pointer,
        input,
        inputLength,
        output,
        outputLength,
      );
      const consumed = module.HEAP32[inputLength >> 2]!;
      if (error !== 0 || consumed === 0) throw new Error(`the resampler failed: ${String(error)}`);
      offset += consumed;
      const produced = module.HEAP32[outputLength >> 2]!;
      const skipped = Math.min(this.#toSkip, produced);
      this.#toSkip -= skipped;
      const start = (output >> 1) + skipped;
      parts.push(module.HEAP16.slice(start, start + produced - skipped));
    }
    return parts.length === 1 ? parts[0]! : joined(parts);
  }
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
