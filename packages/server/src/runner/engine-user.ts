/** A call as the user of an engine: the steps of a list of engines are events of the call. */

import type { CallEngineEventBody } from "../call/events.ts";
import type { ServingEngine } from "../ports/engine-origin.ts";
import type { EngineUser } from "../ports/engine-steps.ts";

/** A request to an engine that may be a list of engines. */
export type ServedRequest =
  | { readonly kind: "stt"; readonly utteranceId: number; readonly revision: number }
  | { readonly kind: "llm"; readonly replyId: number }
  /** A generation of a side thread. */
  | { readonly kind: "side"; readonly generationId: number }
  | { readonly kind: "tts"; readonly segmentId: number };

/** Told which engine of a list answers a request, when its answer begins. */
export type Served = (request: ServedRequest, engine: ServingEngine) => void;

/** One object for each engine of a call: a list remembers by it what has failed in the call. */
export function engineUser(
  engine: "stt" | "llm" | "tts",
  post: (event: CallEngineEventBody) => void,
): EngineUser {
  return {
    stepped: (step) => {
      post({ type: "engineReplaced", engine, ...step });
    },
  };
}
