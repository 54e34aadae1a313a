/**
 * Fake voice: a tone for every word, at fixed delays, with word times; for tests and benchmarks. The same request
 * always gives the same samples.
 */

import type { TtsEngine, TtsPart, TtsRequest } from "../tts.ts";
import { waitMs } from "./wait.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface FakeTtsOptions {
  /** From the request to the first audio. Default 0. */
  readonly firstAudioDelayMs?: number;
  /** Between two words. Default 0: all at once. */
  readonly wordDelayMs?: number;
  /** Audio per word. Default 300, the pace of about 200 words a minute. */
  readonly wordMs?: number;
  /** Default 24 000. */
  readonly sampleRateHz?: number;
  /** Whether word times are sent. Default true. */
  readonly wordTimes?: boolean;
  readonly voices?: readonly string[];
  /** Languages that it claims to speak, as primary tags. Default: all. */
  readonly languages?: readonly string[];
  /** Throws this after the first word, as a broken stream would. */
  readonly failure?: (request: TtsRequest) => Error | null;
}

/** Loud enough to be found by a test, far from clipping. */
const AMPLITUDE = 8_000;
/** The silent last part of a word, so that words can be distinguished in the audio. */
const GAP = 0.2;

export function openFakeTts(options: FakeTtsOptions = {}): TtsEngine {
  const closing = new AbortController();
  return {
    name: "fake",
    voices: options.voices ?? [],
    synthesize: (request, signal) => synthesize(options, request, AbortSignal.any([signal, closing.signal])),
    speaks: (language) => {
      const primary = language.split("-", 1)[0]?.toLowerCase() ?? "";
      return options.languages?.includes(primary) ?? true;
    },
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

/** The frequency of the tone of the word at `index`: six steps between 300 and 800 Hz. */
export function fakeToneHz(index: number): number {
  return 300 + (index % 6) * 100;
}

async function* synthesize(
  options: FakeTtsOptions,
  request: TtsRequest,
  signal: AbortSignal,
): AsyncGenerator<TtsPart> {
  const { firstAudioDelayMs = 0, wordDelayMs = 0, wordMs = 300 } = options;
  const { sampleRateHz = 24_000, wordTimes = true } = options;
  const failure = options.failure?.(request) ?? null;
  throwIfAborted(signal);
  if (request.voice !== null && !options.voices?.includes(request.voice))
    throw new Error(`the fake has no voice ${request.voice}`);
  await waitMs(firstAudioDelayMs, signal);
  let index = 0;
  for (const word of request.text.matchAll(/\S+/g)) {
    if (index > 0) await waitMs(wordDelayMs, signal);
    throwIfAborted(signal);
    if (wordTimes) yield { type: "word", textOffset: word.index, atMs: index * wordMs };
    throwIfAborted(signal);
    yield { type: "audio", samples: tone(fakeToneHz(index), wordMs, sampleRateHz), sampleRateHz };
    if (failure !== null) throw failure;
    index += 1;
  }
  if (failure !== null) throw failure;
  throwIfAborted(signal);
}

function tone(frequencyHz: number, durationMs: number, sampleRateHz: number): Int16Array {
  const samples = new Int16Array(Math.round((durationMs * sampleRateHz) / 1_000));
  const sounding = Math.round(samples.length * (1 - GAP));
  const step = (2 * Math.PI * frequencyHz) / sampleRateHz;
  for (let i = 0; i < sounding; i += 1) samples[i] = Math.round(AMPLITUDE * Math.sin(step * i));
  return samples;
}
