/** The faults that every list of engines is tested with: fake engines that fail as servers of vendors do. */

import { abortError } from "../../pacing/abort.ts";
import { EngineFailure, type EngineFailureOptions } from "../engine-failure.ts";
import type { LlmEngine, LlmPart } from "../llm.ts";
import type { SttEngine, SttListener } from "../stt.ts";
import type { TtsEngine, TtsPart } from "../tts.ts";
import { openFakeLlm } from "./fake-llm.ts";
import { openFakeStt } from "./fake-stt.ts";
import { openFakeTts } from "./fake-tts.ts";

export const FAULTS = [
  "refused key",
  "429",
  "5xx",
  "hang before the first byte",
  "hang in the middle",
  "garbage",
  "drop in the middle",
] as const;
export type Fault = (typeof FAULTS)[number];

/** Faults that come after a part of the answer. */
export function isInTheMiddle(fault: Fault): boolean {
  return fault === "hang in the middle" || fault === "drop in the middle";
}

/** Null: the engine works. It is read with each request. */
export type CurrentFault = () => Fault | null;

export interface FaultyEngine {
  /** Requests so far, those that worked included. */
  requests: number;
}

export function faultyLlm(fault: CurrentFault, reply: string, name = "first"): LlmEngine & FaultyEngine {
  const works = openFakeLlm({ reply });
  return {
    ...works,
    name,
    requests: 0,
    async *generate(request, signal): AsyncGenerator<LlmPart> {
      this.requests += 1;
      const current = fault();
      let parts = 0;
      if (current === null || isInTheMiddle(current)) {
        for await (const part of works.generate(request, signal)) {
          yield part;
          parts += 1;
          if (current !== null && parts === 4) break;
        }
      }
      if (current !== null) await failAs(current, signal);
    },
  };
}

export function faultyTts(fault: CurrentFault, name = "first"): TtsEngine & FaultyEngine {
  const works = openFakeTts();
  return {
    ...works,
    name,
    requests: 0,
    async *synthesize(request, signal): AsyncGenerator<TtsPart> {
      this.requests += 1;
      const current = fault();
      let words = 0;
      if (current === null || isInTheMiddle(current)) {
        for await (const part of works.synthesize(request, signal)) {
          yield part;
          words += part.type === "audio" ? 1 : 0;
          if (current !== null && words === 2) break;
        }
      }
      if (current !== null) await failAs(current, signal);
    },
  };
}

/** A recogniser has no middle: it has answered or not. */
export function faultyStt(fault: CurrentFault, text: string, name = "first"): SttEngine & FaultyEngine {
  const works = openFakeStt({ says: (_utterance, samples) => (samples.length === 0 ? "" : text) });
  return {
    ...works,
    name,
    requests: 0,
    open(options, listener) {
      const answers: SttListener = {
        ...listener,
        final: (utteranceId, revision, ...answer) => {
          const current = fault();
          if (current === null) listener.final(utteranceId, revision, ...answer);
          else if (!current.startsWith("hang")) listener.failed(utteranceId, revision, errorOf(current));
        },
      };
      const stream = works.open(options, answers);
      return {
        open: (utteranceId) => stream.open(utteranceId),
        push: (utteranceId, samples) => stream.push(utteranceId, samples),
        request: (utteranceId, revision) => {
          this.requests += 1;
          stream.request(utteranceId, revision);
        },
        abandon: (utteranceId) => stream.abandon(utteranceId),
        close: () => stream.close(),
      };
    },
  };
}

/** Throws what the fault throws; a hanging engine ends with its signal. */
async function failAs(fault: Fault, signal: AbortSignal): Promise<void> {
  if (!fault.startsWith("hang")) throw errorOf(fault);
  await new Promise<never>((_resolve, reject) => {
    const abort = () => reject(abortError());
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

const LOST = ["the server closed the connection early", { type: "ECONNRESET" }] as const;

const ERRORS: Readonly<Record<Fault, readonly [message: string, options: EngineFailureOptions]>> = {
  "refused key": ["the server answered HTTP 401: wrong key", { isPermanent: true, type: "401" }],
  "429": ["the server answered HTTP 429: slow down", { type: "429" }],
  "5xx": ["the server answered HTTP 503", { type: "503" }],
  garbage: ["the server sent something else", { type: "invalid_answer" }],
  "drop in the middle": LOST,
  "hang before the first byte": LOST,
  "hang in the middle": LOST,
};

function errorOf(fault: Fault): EngineFailure {
  return new EngineFailure(...ERRORS[fault]);
}
