/** Engines of this machine whose process has a fault. */

import type { LlmEngine } from "../../src/ports/llm.ts";
import { llmRequest } from "../../src/ports/testing/llm-conformance.ts";
import { SttRecord } from "../../src/ports/testing/stt-conformance.ts";
import { ttsRequest } from "../../src/ports/testing/tts-conformance.ts";
import type { SttEngine } from "../../src/ports/stt.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import { openLocalLlm } from "../../src/providers/llm-local/llm-local.ts";
import { MAX_WAITING_REPLIES } from "../../src/providers/llm-local/llm-link.ts";
import { startLocalChild, type StartLocalChild } from "../../src/providers/local-child/local-child.ts";
import type { LoadOrder, ModelFamily } from "../../src/providers/local-child/local-model.ts";
import { MAX_STREAMS } from "../../src/providers/stt-local/streaming-link.ts";
import { MAX_WAITING_UTTERANCES, openLocalStt } from "../../src/providers/stt-local/stt-local.ts";
import { openLocalTts } from "../../src/providers/tts-local/tts-local.ts";
import type { VendorFault } from "./gates.ts";

/** It has no key. */
export const NEVER_LOCAL: readonly VendorFault[] = ["refused key"];

const PROGRAM = new URL("./faulty-child.ts", import.meta.url);

const startFaulty: StartLocalChild = (_program, order, listener) => startLocalChild(PROGRAM, order, listener);

function orderOf(family: ModelFamily, fault: VendorFault): LoadOrder {
  const model = { name: fault, family, paths: {}, files: [], languages: ["en"], voices: ["one"] };
  return { model, packageFolder: "", threads: 1 };
}

/** Of other calls, which the process never serves. */
const never = (): AbortSignal => new AbortController().signal;

export async function openFaultyLocalLlm(fault: VendorFault): Promise<LlmEngine> {
  const order = { ...orderOf("gguf", fault), contextTokens: 2_000, parallel: 1 };
  const engine = await openLocalLlm({ order, names: [fault], startChild: startFaulty });
  // One reply is being made, and so many wait.
  if (fault === "429")
    for (let count = 0; count <= MAX_WAITING_REPLIES; count += 1)
      void ignored(engine.generate(llmRequest(), never()));
  return engine;
}

/** The pieces that may wait for a voice, and the one that is being made. */
const VOICE_PIECES = 257;

export async function openFaultyLocalTts(fault: VendorFault): Promise<TtsEngine> {
  const order = orderOf("vits", fault);
  const engine = await openLocalTts({ order, voice: null, startChild: startFaulty });
  if (fault === "429")
    for (let count = 0; count < VOICE_PIECES; count += 1)
      void ignored(engine.synthesize(ttsRequest("Hello."), never()));
  return engine;
}

export async function openFaultyLocalStt(
  family: "moonshine" | "online-transducer",
  fault: VendorFault,
): Promise<SttEngine> {
  const engine = await openLocalStt({ order: orderOf(family, fault), startChild: startFaulty });
  const mostWait = family === "moonshine" ? MAX_WAITING_UTTERANCES + 1 : MAX_STREAMS;
  const others = fault === "429" ? mostWait : 0;
  for (let count = 0; count < others; count += 1) {
    const stream = engine.open({ language: "en" }, new SttRecord());
    stream.open(1);
    stream.push(1, new Int16Array(1_600));
    stream.request(1, 1);
  }
  return engine;
}

/** It ends when its engine is closed. */
async function ignored(parts: AsyncIterable<unknown>): Promise<void> {
  try {
    for await (const part of parts) void part;
  } catch {
    // It was never to be answered.
  }
}
