/** Thread entry: decodes utterances in the order in which they arrive. */

import { parentPort } from "node:worker_threads";
import { PhraseDecoder } from "./phrase-decoder.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import { messageOf } from "../../pacing/error-text.ts";

function say(message: FromWorker): void {
  parentPort?.postMessage(message, []);
}

try {
  const decoder = await PhraseDecoder.load();
  parentPort?.on("message", ({ id, samples }: ToWorker) => {
    try {
      say({ type: "answered", id, answer: decoder.decode(samples) });
    } catch (error) {
      // A trap inside the WASM module leaves it in an unknown state, so this thread must not be used again.
      if (error instanceof Error && error.name === "RuntimeError") throw error;
      say({ type: "failed", id, detail: messageOf(error) });
    }
  });
  say({ type: "ready" });
} catch (error) {
  say({ type: "unusable", detail: messageOf(error) });
}
