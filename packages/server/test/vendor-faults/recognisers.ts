/** Each adapter of a recogniser over a network with the fake of its vendor and one fault. */

import { openLocalServer } from "../../src/ports/testing/local-server.ts";
import type { SttEngine } from "../../src/ports/stt.ts";
import { openDeepgramStt } from "../../src/providers/stt-deepgram/stt-deepgram.ts";
import { FakeDeepgram } from "../../src/providers/stt-deepgram/testing/fake-deepgram.ts";
import { FakeFlux } from "../../src/providers/stt-deepgram/testing/fake-flux.ts";
import { openOpenAiRealtimeStt } from "../../src/providers/stt-openai-realtime/stt-openai-realtime.ts";
import { FakeRealtime } from "../../src/providers/stt-openai-realtime/testing/fake-realtime.ts";
import { openOpenAiStt } from "../../src/providers/stt-openai/stt-openai.ts";
import type { VendorFault } from "./faulty-call.ts";

export interface OpenedRecogniser {
  readonly engine: SttEngine;
  readonly close: () => Promise<void>;
}

export interface RecogniserSubject {
  readonly name: string;
  readonly open: (fault: VendorFault | null) => Promise<OpenedRecogniser>;
}

const WRONG_KEY = "a-key-that-nobody-has";
/** What the caller says, and what the recogniser of the vendor understands. */
export const SPOKEN = "ten of clubs please";

/** The status of a refused upgrade. */
const STATUSES: Partial<Record<VendorFault, number>> = { "429": 429, "5xx": 503 };

function refusalOf(fault: VendorFault | null): { readonly refuse?: number } {
  const status = fault === null ? undefined : STATUSES[fault];
  return status === undefined ? {} : { refuse: status };
}

/** A recogniser has no middle: it has answered or not. */
function actOf(fault: VendorFault | null): "answer" | "hang" | "garbage" | "drop" {
  if (fault === "garbage") return "garbage";
  if (fault === "drop in the middle") return "drop";
  return fault?.startsWith("hang") === true ? "hang" : "answer";
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
      const server = await openLocalServer(({ headers }, response) => {
        const act = actOf(fault);
        const { refuse } = refusalOf(fault);
        const text = JSON.stringify({ text: SPOKEN });
        if (headers.authorization !== "Bearer sk-key") response.writeHead(401).end("{}");
        else if (refuse !== undefined) response.writeHead(refuse).end("{}");
        else if (act === "garbage") response.writeHead(200).end("<html>busy</html>");
        else if (act === "drop") {
          const type = { "content-type": "application/json", "content-length": text.length };
          response.writeHead(200, type).write(text.slice(0, 5), () => response.destroy());
        } else if (act === "answer")
          response.writeHead(200, { "content-type": "application/json" }).end(text);
      });
      const apiKey = fault === "refused key" ? WRONG_KEY : "sk-key";
      const engine = openOpenAiStt({ baseUrl: server.baseUrl, apiKey, model: "whisper-1" });
      return { engine, close: () => closeBoth(engine, server) };
    },
  },
];

async function closeBoth(engine: SttEngine, vendor: { close(): Promise<void> }): Promise<void> {
  await engine.close();
  await vendor.close();
}
