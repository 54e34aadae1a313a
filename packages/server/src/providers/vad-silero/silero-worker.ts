/** Thread entry: scores batches one after the other, in the order in which they were sent. */

import { parentPort, workerData } from "node:worker_threads";
import { VAD_BATCH_WINDOWS, viewBatch, type FromWorker, type ToWorker } from "./protocol.ts";
import { SileroModel } from "./silero-model.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface SileroWorkerData {
  readonly modelPath: string;
}

function say(message: FromWorker): void {
  parentPort?.postMessage(message, "buffer" in message ? [message.buffer] : []);
}

async function handle(model: SileroModel, message: ToWorker): Promise<void> {
  if (message.type === "forget") {
    model.forget(message.streamId);
    return;
  }
  if (message.type === "finish") {
    await model.release();
    parentPort?.close();
    return;
  }
  const { count, buffer } = message;
  const { streamIds, scores, windows } = viewBatch(buffer);
  try {
    await model.score(count, streamIds, windows, scores);
    say({ type: "scored", count, buffer });
  } catch (error) {
    say({ type: "batchFailed", count, buffer, detail: messageOf(error) });
  }
}

try {
  const { modelPath } = workerData as SileroWorkerData;
  const model = await SileroModel.load(modelPath, VAD_BATCH_WINDOWS);
  let last = Promise.resolve();
  parentPort?.on("message", (message: ToWorker) => {
    // A rejection of this chain (release failing) ends the thread with an error, which the engine reports.
    last = last.then(() => handle(model, message));
  });
  say({ type: "ready" });
} catch (error) {
  say({ type: "unusable", detail: messageOf(error) });
}
