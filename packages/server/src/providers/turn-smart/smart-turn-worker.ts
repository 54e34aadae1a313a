/** Thread entry: computes the features of one question after the other and runs the network on them. */

import { parentPort, workerData } from "node:worker_threads";
import type { FromWorker, ToWorker } from "./protocol.ts";
import { SmartTurnModel } from "./smart-turn-model.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface SmartTurnWorkerData {
  readonly modelPath: string;
}

function say(message: FromWorker): void {
  parentPort?.postMessage(message, []);
}

async function handle(model: SmartTurnModel, message: ToWorker): Promise<void> {
  if (message.type === "finish") {
    await model.release();
    parentPort?.close();
    return;
  }
  const { id, samples } = message;
  try {
    say({ type: "answered", id, answer: await model.judge(samples) });
  } catch (error) {
    say({ type: "failed", id, detail: messageOf(error) });
  }
}

/** A thread that has to end before or while it loads has nothing to release. */
function endWhenTold(message: ToWorker): void {
  if (message.type === "finish") parentPort?.close();
}

parentPort?.on("message", endWhenTold);
try {
  const { modelPath } = workerData as SmartTurnWorkerData;
  const model = await SmartTurnModel.load(modelPath);
  let last = Promise.resolve();
  parentPort?.off("message", endWhenTold);
  parentPort?.on("message", (message: ToWorker) => {
    // A rejection of this chain (release failing) ends the thread with an error, which the queue reports.
    last = last.then(() => handle(model, message));
  });
  say({ type: "ready" });
} catch (error) {
  say({ type: "unusable", detail: messageOf(error) });
}
