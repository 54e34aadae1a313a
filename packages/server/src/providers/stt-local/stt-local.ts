/** A recogniser on this machine, run by sherpa-onnx in a process of its own. */

import type { SttEngine } from "../../ports/stt.ts";
import { openBatchStt } from "../batch-stt.ts";
import { childThread } from "../local-child/child-thread.ts";
import { startLocalChild, type StartLocalChild } from "../local-child/local-child.ts";
import { ANSWER_TIMEOUT_MS, LOAD_TIMEOUT_MS, localFailure } from "../local-child/local-limits.ts";
import { isStreaming, type LoadOrder, type LocalModel } from "../local-child/local-model.ts";
import { ThreadQueue } from "../thread-queue.ts";
import { openStreamingStt, warningFor } from "./streaming-stt.ts";

export interface LocalSttOptions {
  readonly order: LoadOrder;
  /** Called with one sentence at the end and at the restart of the process; never contains what was said. */
  readonly log?: (message: string) => void;
  /** Starts a process; tests pass others. */
  readonly startChild?: StartLocalChild;
  /** Limit of an answer; absent: a minute. */
  readonly answerTimeoutMs?: number;
}

/** Utterances that wait for the process: at 0.1 s each, a turn no longer waits for the last one. */
export const MAX_WAITING_UTTERANCES = 64;

/** Resolves when the model is loaded. Rejects with a sentence when it cannot be. */
export function openLocalStt(options: LocalSttOptions): Promise<SttEngine> {
  const { order, startChild = startLocalChild, log = () => undefined, answerTimeoutMs } = options;
  const name = `the recogniser ${order.model.name}`;
  if (!isStreaming(order.model.family)) return openWhole(order.model, name, options);
  const limit = answerTimeoutMs === undefined ? {} : { answerTimeoutMs };
  return openStreamingStt(order.model, { name, order, startChild, log, ...limit });
}

async function openWhole(model: LocalModel, name: string, options: LocalSttOptions): Promise<SttEngine> {
  const { order, startChild, log = () => undefined, answerTimeoutMs = ANSWER_TIMEOUT_MS } = options;
  const program = new URL("./batch-child.ts", import.meta.url);
  const queue = new ThreadQueue(childThread<Int16Array, string>(program, order, startChild), {
    name,
    request: "utterance",
    waiting: MAX_WAITING_UTTERANCES,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    answerTimeoutMs,
    log,
  });
  await queue.load();
  return openBatchStt({
    name: "local",
    origin: { model: model.name },
    transcribe: async (samples, _language, signal) => {
      try {
        return await queue.ask(samples, signal);
      } catch (error) {
        throw localFailure(error, "local_model");
      }
    },
    warningFor: (language) => warningFor(model, language),
    unusable: queue.unusable,
    close: () => queue.close(),
  });
}
