/** Each adapter of a recogniser over a network with the fake of its vendor and one fault. */

import type { SttEngine } from "../../src/ports/stt.ts";
import { openDeepgramStt } from "../../src/providers/stt-deepgram/stt-deepgram.ts";
import { FakeDeepgram } from "../../src/providers/stt-deepgram/testing/fake-deepgram.ts";
import { FakeFlux } from "../../src/providers/stt-deepgram/testing/fake-flux.ts";
import { openOpenAiRealtimeStt } from "../../src/providers/stt-openai-realtime/stt-openai-realtime.ts";
import { FakeRealtime } from "../../src/providers/stt-openai-realtime/testing/fake-realtime.ts";
import { openOpenAiStt } from "../../src/providers/stt-openai/stt-openai.ts";
import {
  openFakeTranscriptions,
  TRANSCRIPTIONS_KEY,
} from "../../src/providers/stt-openai/testing/fake-transcriptions.ts";
import type { VendorFault } from "./gates.ts";
import { NEVER_LOCAL, openFaultyLocalStt } from "./local-models.ts";
import { SPOKEN } from "./said.ts";

export interface OpenedRecogniser {
  readonly engine: SttEngine;
  readonly close: () => Promise<void>;
}

export interface RecogniserSubject {
  readonly name: string;
  /** Faults that it cannot have. Unset: none. */
  readonly never?: readonly VendorFault[];
  readonly open: (fault: VendorFault) => Promise<OpenedRecogniser>;
}

const WRONG_KEY = "a-key-that-nobody-has";
/** The status of a refused upgrade. */
const STATUSES: Partial<Record<VendorFault, number>> = { "429": 429, "5xx": 503 };

function refusalOf(fault: VendorFault): { readonly refuse?: number } {
  const status = STATUSES[fault];
  return status === undefined ? {} : { refuse: status };
}

/** A recogniser has no middle: it has answered or not. */
function actOf(fault: VendorFault): "answer" | "hang" | "garbage" | "drop" {
  if (fault === "garbage") return "garbage";
  if (fault === "drop in the middle") return "drop";
  return fault.startsWith("hang") ? "hang" : "answer";
}

export const RECOGNISERS: readonly RecogniserSubject[] = [
  {
    name: "Deepgram",
    async open(fault) {
      const vendor = await FakeDeepgram.open({ atFinalize: () => actOf(fault), ...refusalOf(fault) });
      const apiKey = fault === "refused key" ? WRONG_KEY : "dg-key";
      const engine = openDeepgramStt({ baseUrl: vendor.baseUrl, apiKey, model: "nova-3" });
      return { engine, close: () => closeBoth(engine, vendor) };
    },
  },
  {
    name: "Deepgram Flux",
    async open(fault) {
      const vendor = await FakeFlux.open({ act: () => actOf(fault), ...refusalOf(fault) });
      const apiKey = fault === "refused key" ? WRONG_KEY : "dg-key";
      const engine = openDeepgramStt({ baseUrl: vendor.baseUrl, apiKey, model: "flux-general-en" });
      return { engine, close: () => closeBoth(engine, vendor) };
    },
  },
  {
    name: "OpenAI realtime",
    async open(fault) {
      const vendor = await FakeRealtime.open({ atCommit: () => actOf(fault), ...refusalOf(fault) });
      const apiKey = fault === "refused key" ? WRONG_KEY : "sk-key";
      const engine = openOpenAiRealtimeStt({
        baseUrl: vendor.baseUrl,
        apiKey,
        model: "gpt-4o-mini-transcribe",
      });
      return { engine, close: () => closeBoth(engine, vendor) };
    },
  },
  {
    name: "OpenAI-compatible",
    async open(fault) {
      const act = actOf(fault);
      const refusal = fault === "429" || fault === "5xx" ? fault : null;
      const server = await openFakeTranscriptions({
        says: () => SPOKEN,
        fault: refusal ?? (act === "answer" ? null : act),
      });
      const apiKey = fault === "refused key" ? WRONG_KEY : TRANSCRIPTIONS_KEY;
      const engine = openOpenAiStt({ baseUrl: server.baseUrl, apiKey, model: "whisper-1" });
      return { engine, close: () => closeBoth(engine, server) };
    },
  },
  ...(["moonshine", "online-transducer"] as const).map((family) => ({
    name: family === "moonshine" ? "on this machine, whole" : "on this machine, streaming",
    // Its answers are texts of our own process.
    never: [...NEVER_LOCAL, "garbage" as const],
    async open(fault: VendorFault) {
      const engine = await openFaultyLocalStt(family, fault);
      return { engine, close: () => engine.close() };
    },
  })),
];

async function closeBoth(engine: SttEngine, vendor: { close(): Promise<void> }): Promise<void> {
  await engine.close();
  await vendor.close();
}
