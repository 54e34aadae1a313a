/** The turn detector for words: it needs no model and answers at once. */

import type { TurnDetector } from "../../ports/turn-detector.ts";
import { judgeText } from "./judge-text.ts";

export function openTextTurnDetector(): TurnDetector {
  return {
    name: "text",
    listens: false,
    judge: (question, signal) => {
      if (signal.aborted) return Promise.reject(new Error("aborted"));
      const finished = judgeText(question);
      return Promise.resolve(finished === null ? null : { finished });
    },
    close: () => Promise.resolve(),
  };
}
