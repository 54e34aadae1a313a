/**
 * The turn detector for audio: whether intonation and pace sound finished. One thread answers the questions of all
 * calls one by one, because the network's cost grows with the batch size, so batches would only add delay.
 */

import type { TurnDetector } from "../../ports/turn-detector.ts";
import { ThreadQueue } from "../thread-queue.ts";
import { FEATURE_SAMPLES } from "./features.ts";
import { smartTurnThread, type StartSmartTurnThread } from "./smart-turn-thread.ts";

/** Limit of waiting questions: at 40 ms each the last is answered after 0.6 s, when a call no longer waits for it. */
export const SMART_TURN_QUEUE_QUESTIONS = 16;

/** Limit of one question, which takes 0.04 s, or 0.2 s on a loaded machine. A slower thread counts as lost. */
export const SMART_TURN_TIMEOUT_MS = 5_000;

/** Limit from start to a loaded model: 0.2 s here; half a minute allows for a cold disk. */
export const SMART_TURN_LOAD_TIMEOUT_MS = 30_000;

/** Description of this detector in the log of the start. */
export const SMART_TURN_DESCRIPTION =
  "Smart Turn v3 in one worker thread estimates from the audio whether the user has finished";

export interface SmartTurnOptions {
  /** Path of a Smart Turn v3 ONNX file. */
  readonly modelPath: string;
  /** Called with one sentence at the end and at the restart of a worker. */
  readonly log?: (message: string) => void;
}

/** Starts the worker and loads the model; rejects when the file is missing, broken or has another interface. */
export function openSmartTurn(options: SmartTurnOptions): Promise<TurnDetector> {
  return openQueuedSmartTurn(smartTurnThread(options.modelPath), options.log ?? (() => undefined));
}

/** The same with another thread in place of the real one, for tests. */
export async function openQueuedSmartTurn(
  start: StartSmartTurnThread,
  log: (message: string) => void,
): Promise<TurnDetector> {
  const queue = new ThreadQueue(start, {
    name: "the audio turn detector",
    request: "question",
    waiting: SMART_TURN_QUEUE_QUESTIONS,
    loadTimeoutMs: SMART_TURN_LOAD_TIMEOUT_MS,
    answerTimeoutMs: SMART_TURN_TIMEOUT_MS,
    log,
  });
  await queue.load();
  return {
    name: "audio",
    listens: true,
    unusable: queue.unusable,
    judge: async ({ audio }, signal) => {
      if (signal.aborted) throw new Error("the question was abandoned");
      if (audio === null || audio.length === 0) return null;
      // A copy, because the memory is transferred to the thread.
      const latest = audio.slice(Math.max(0, audio.length - FEATURE_SAMPLES));
      return { finished: await queue.ask(latest, signal) };
    },
    close: () => queue.close(),
  };
}
