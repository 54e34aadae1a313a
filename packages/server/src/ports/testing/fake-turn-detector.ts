/** Fake turn detector: it returns the probabilities that the test sets. */

import type { TurnDetector, TurnQuestion } from "../turn-detector.ts";

export interface FakeTurnDetectorOptions {
  /** Default: false. */
  readonly listens?: boolean;
  /** Default: finished (1) when the text ends like a sentence, else 0; null for no text. */
  readonly finished?: (question: TurnQuestion) => number | null;
  /** From a question to its answer. Default 0: before the next task of the event loop. */
  readonly delayMs?: number;
  /** Every question hangs until it is aborted, or fails. */
  readonly broken?: "hangs" | "fails";
}

export interface FakeTurnDetector extends TurnDetector {
  /** All questions so far. */
  readonly questions: readonly TurnQuestion[];
}

function sentenceEnds({ text }: TurnQuestion): number | null {
  if (text === "") return null;
  return /[.!?]$/.test(text) ? 1 : 0;
}

export function openFakeTurnDetector(options: FakeTurnDetectorOptions = {}): FakeTurnDetector {
  const { listens = false, finished = sentenceEnds, delayMs = 0, broken } = options;
  const questions: TurnQuestion[] = [];
  const open = new Set<(reason: Error) => void>();
  return {
    name: "fake",
    listens,
    questions,
    judge: (question, signal) => {
      questions.push(question);
      const { promise, resolve, reject } = Promise.withResolvers<{ finished: number } | null>();
      const fail = (): void => {
        reject(new Error("the question was abandoned"));
      };
      if (signal.aborted) fail();
      else if (broken === "fails") reject(new Error("broken on purpose"));
      else if (broken !== "hangs") {
        const value = finished(question);
        const answer = (): void => {
          resolve(value === null ? null : { finished: value });
        };
        if (delayMs > 0) setTimeout(answer, delayMs);
        else queueMicrotask(answer);
      }
      signal.addEventListener("abort", fail, { once: true });
      open.add(reject);
      return promise.finally(() => {
        open.delete(reject);
        signal.removeEventListener("abort", fail);
      });
    },
    close: () => {
      for (const reject of open) reject(new Error("the fake was closed"));
      return Promise.resolve();
    },
  };
}
