/** A call as the user of an engine: the steps of a list of engines are events of the call. */

import type { CallEngineEventBody } from "../call/events.ts";
import type { EngineUser } from "../ports/engine-steps.ts";

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
