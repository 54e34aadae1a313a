/**
 * A list of language models as one model. A request that fails before its first part goes to the next one at once; one
 * that fails later fails, and the call's next request goes to another model. A model that stops within its answer fails
 * after the same limit as one that does not begin.
 */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { originOf } from "../../ports/engine-origin.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import { EngineList, type ListOptions } from "./engine-list.ts";
import { streamed } from "./streamed.ts";
import type { ListedEngine } from "./listed-engine.ts";

/** A model that has its first token later than this is too slow for a call; most need less than a second. */
export const FIRST_TOKEN_LIMIT_MS = 2_500;

export interface LlmChainOptions extends Omit<ListOptions<LlmEngine>, "kind" | "isSticky"> {
  /** Limit until the first part of each model, and then until each next one. */
  readonly firstTokenLimitMs: number;
  /** The next model is asked as well when the first part is so late; null: never. */
  readonly hedgeMs: number | null;
}

/** Named models are those of the first one. The others answer with their own where they do not have it. */
export function openLlmChain(options: LlmChainOptions): LlmEngine {
  const list = new EngineList<LlmEngine>({ ...options, kind: "llm" });
  const { engine: first } = list.first;
  return {
    ...first,
    unusable: () => list.unusable(),
    async *generate(request, signal): AsyncGenerator<LlmPart> {
      const { model, user } = request;
      if (model !== "default" && !first.models.includes(model)) throw unknownModel(model);
      const modelOf = ({ engine }: ListedEngine<LlmEngine>): string =>
        engine === first || engine.models.includes(model) ? model : "default";
      const requestOf = (listed: ListedEngine<LlmEngine>): LlmRequest => {
        const { audio, ...rest } = request;
        const own = modelOf(listed);
        // The messages have the words of the caller's voice as well, for a model that does not hear it.
        const hears = audio !== undefined && listed.engine.takesAudio?.(own) === true;
        return { ...rest, model: own, ...(hears ? { audio } : {}) };
      };
      yield* streamed<LlmEngine, LlmPart>({
        list,
        user,
        signal,
        use: (listed) => modelOf(listed),
        start: (listed, own) => listed.engine.generate(requestOf(listed), own),
        begins: () => true,
        empty: () => new EngineFailure("it ended without an answer", { type: "invalid_answer" }),
        limitMs: options.firstTokenLimitMs,
        limitAfter: null,
        hedgeMs: options.hedgeMs,
        stallMs: () => options.firstTokenLimitMs,
        serves: ({ name, engine }) => request.servedBy?.({ ...originOf(engine), entry: name }),
      });
    },
    close: () => closeAll(list),
  };
}

/** Not a failure of an engine: no other one would know the name. */
function unknownModel(model: string): EngineFailure {
  const options = { isPermanent: true, type: "unknown_model" };
  return new EngineFailure(`there is no model named ${model}`, options);
}

async function closeAll(list: EngineList<LlmEngine>): Promise<void> {
  await Promise.all(list.engines.map(({ engine }) => engine.close()));
}
