/** Sets of the fakes of all ports, and engines that hang, fail or break off, for tests of calls. */

import type { LlmEngine } from "../../ports/llm.ts";
import { openFakeLlm, type FakeLlmOptions } from "../../ports/testing/fake-llm.ts";
import { openFakeStt, type FakeSttOptions } from "../../ports/testing/fake-stt.ts";
import { openFakeTts, type FakeTtsOptions } from "../../ports/testing/fake-tts.ts";
import { openFakeVad, type FakeVad, type FakeVadOptions } from "../../ports/testing/fake-vad.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { CallEngines } from "../call-deps.ts";
import { abortError } from "../../pacing/abort.ts";

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
      reject(abortError());
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

/** A whole set with the given delays. */
export function openFakeEngines(options: FakeEngineOptions = {}): CallEngines & { readonly vad: FakeVad } {
  return {
    vad: openFakeVad(options.vad),
    stt: openFakeStt(options.stt),
    llm: openFakeLlm(options.llm),
    tts: openFakeTts(options.tts),
  };
}
