/** A language model whose requests are counted. */

import type { LlmEngine, LlmPart } from "../../ports/llm.ts";
import { meteredStream, UseMeter, type MeterParts } from "./engine-meter.ts";

type Finish = Extract<LlmPart, { readonly type: "finish" }>;

/** @param name as the metrics name it */
export function meteredLlm(engine: LlmEngine, name: string, parts: MeterParts): LlmEngine {
  const meter = new UseMeter(
    {
      kind: "llm",
      engine: name,
      provider: engine.name,
      model: engine.model ?? null,
      isLocal: engine.server === undefined,
    },
    parts,
  );
  // With one name alone, that name is the operator's, and `model` is the server's.
  const hasOwnNames = engine.models.length > 1;
  return {
    ...engine,
    generate: (request, signal) => {
      let finish: Finish | null = null;
      const named = hasOwnNames && request.model !== "default";
      return meteredStream<LlmPart>({
        meter,
        listener: request.meter,
        ...(named ? { model: request.model } : {}),
        signal,
        start: () => engine.generate(request, signal),
        take: (part) => {
          if (part.type !== "finish") return "first";
          finish = part;
          return "last";
        },
        amounts: (outcome, hasBegun) => tokensOf(finish, outcome !== "failed" || hasBegun),
      });
    },
  };
}

/** @param isCharged without a count it is not known what the request took */
function tokensOf(finish: Finish | null, isCharged: boolean) {
  if (finish === null || (finish.inputTokens === null && finish.outputTokens === null))
    return { amounts: {}, isUncounted: isCharged };
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = finish;
  return {
    amounts: {
      inputTokens: inputTokens ?? 0,
      outputTokens: outputTokens ?? 0,
      cachedInputTokens: Math.min(cachedInputTokens, inputTokens ?? 0),
    },
    isUncounted: inputTokens === null || outputTokens === null,
  };
}
