/**
 * Engines that need no model, for tests and benchmarks: speech is what is loud, the recogniser says what it was told to
 * say. Each can be made to hang, to fail or to break off.
 */

import type { LlmEngine } from "../../ports/llm.ts";
import type { SttEngine, SttListener } from "../../ports/stt.ts";
import { openFakeLlm, type FakeLlmOptions } from "../../ports/testing/fake-llm.ts";
import { openFakeTts, type FakeTtsOptions } from "../../ports/testing/fake-tts.ts";
import { openFakeVad, type FakeVad, type FakeVadOptions } from "../../ports/testing/fake-vad.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { CallEngines } from "../call-deps.ts";

export interface FakeSttOptions {
  /** From a request to its transcript. Default 0: within the same turn of the event loop. */
  readonly delayMs?: number;
  /** What the n-th utterance (from 1) of a stream says; an empty text was not understood. Default "Hello there." */
  readonly says?: (utterance: number) => string;
  /** Every request hangs, or fails. */
  readonly broken?: "hangs" | "fails";
  /** `open` throws. */
  readonly opensNot?: boolean;
}

export function openFakeStt(options: FakeSttOptions = {}): SttEngine & { openStreams(): number } {
  const { delayMs = 0, says = () => "Hello there." } = options;
  let streams = 0;
  return {
    name: "fake",
    openStreams: () => streams,
    open: (_language, listener) => {
      if (options.opensNot === true) throw new Error("the recogniser did not open");
      streams += 1;
      const stream = fakeStream(listener, { delayMs, says, broken: options.broken });
      let closed = false;
      return {
        ...stream,
        close: () => {
          if (!closed) streams -= 1;
          closed = true;
          stream.close();
        },
      };
    },
    close: () => Promise.resolve(),
  };
}

function fakeStream(
  listener: SttListener,
  options: { delayMs: number; says: (utterance: number) => string; broken: FakeSttOptions["broken"] },
) {
  const open = new Map<number, string>();
  const timers = new Set<NodeJS.Timeout>();
  let count = 0;
  const answer = (utteranceId: number, revision: number): void => {
    const text = open.get(utteranceId);
    if (text === undefined) return;
    if (options.broken === "fails") listener.failed(utteranceId, revision, new Error("broken on purpose"));
    else listener.final(utteranceId, revision, text, text !== "");
  };
  return {
    open: (utteranceId: number) => {
      count += 1;
      open.set(utteranceId, options.says(count));
    },
    push: () => {},
    request: (utteranceId: number, revision: number) => {
      if (options.broken === "hangs") return;
      if (options.delayMs <= 0) {
        queueMicrotask(() => {
          answer(utteranceId, revision);
        });
        return;
      }
      const timer = setTimeout(() => {
        timers.delete(timer);
        answer(utteranceId, revision);
      }, options.delayMs);
      timers.add(timer);
    },
    abandon: (utteranceId: number) => {
      open.delete(utteranceId);
    },
    close: () => {
      open.clear();
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** A model that never answers but ends with its signal. */
export function openHangingLlm(): LlmEngine {
  return {
    ...openFakeLlm(),
    // eslint-disable-next-line require-yield -- it hangs before its first part
    async *generate(_request, signal) {
      await hang(signal);
    },
  };
}

/** A voice that hangs from the start, or after its first audio. */
export function openHangingTts(afterFirst: boolean): TtsEngine {
  const tts = openFakeTts();
  return {
    ...tts,
    async *synthesize(request, signal) {
      if (afterFirst) {
        for await (const part of tts.synthesize(request, signal)) {
          yield part;
          if (part.type === "audio") break;
        }
      }
      await hang(signal);
    },
  };
}

/** A model that throws at once. */
export function openBrokenLlm(): LlmEngine {
  return {
    ...openFakeLlm(),
    generate: () => {
      throw new Error("broken on purpose");
    },
  };
}

/** A voice that throws before any audio. */
export function openBrokenTts(): TtsEngine {
  return {
    ...openFakeTts(),
    synthesize: () => {
      throw new Error("broken on purpose");
    },
  };
}

function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = () => {
      reject(new DOMException("aborted", "AbortError"));
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

export interface FakeEngineOptions {
  readonly vad?: FakeVadOptions;
  readonly stt?: FakeSttOptions;
  readonly llm?: FakeLlmOptions;
  readonly tts?: FakeTtsOptions;
}

/** A whole set with the delays that are asked for. */
export function openFakeEngines(options: FakeEngineOptions = {}): CallEngines & { readonly vad: FakeVad } {
  return {
    vad: openFakeVad(options.vad),
    stt: openFakeStt(options.stt),
    llm: openFakeLlm(options.llm),
    tts: openFakeTts(options.tts),
  };
}
