/** A list of recognisers as one recogniser: the audio of open utterances is kept, so that the next one gets all of it. */

import type { SttEngine } from "../../ports/stt.ts";
import { ChainStream } from "./chain-stream.ts";
import { EngineList, type ListOptions } from "./engine-list.ts";

/** Recognisers answer a turn in 0.2 to 2 s; twice this is the limit of a transcript. */
export const ANSWER_LIMIT_MS = 3_000;

export interface SttChainOptions extends Omit<ListOptions<SttEngine>, "kind" | "isSticky"> {
  /** Limit until a request is answered, of each recogniser. */
  readonly answerLimitMs: number;
}

export function openSttChain(options: SttChainOptions): SttEngine {
  const list = new EngineList<SttEngine>({ ...options, kind: "stt" });
  let isClosed = false;
  const { engine: first } = list.first;
  return {
    ...first,
    unusable: () => list.unusable(),
    open: (given, listener) =>
      new ChainStream({ list, given, listener, limitMs: options.answerLimitMs, isClosed: () => isClosed }),
    close: async () => {
      isClosed = true;
      await Promise.all(list.engines.map(({ engine }) => engine.close()));
    },
  };
}
