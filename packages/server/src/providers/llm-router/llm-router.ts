/** One language model engine out of several: the name in a request selects the one that answers it. */

import type { LlmEngine } from "../../ports/llm.ts";

/**
 * @param main has the name `default`, and takes every name that no other engine has
 * @param others each with names of its own; an earlier one wins where two have the same
 */
export function routeModels(main: LlmEngine, others: readonly LlmEngine[]): LlmEngine {
  if (others.length === 0) return main;
  const byName = new Map<string, LlmEngine>();
  for (const engine of [main, ...others])
    for (const name of engine.models) if (!byName.has(name)) byName.set(name, engine);
  const engineOf = (name: string): LlmEngine => byName.get(name) ?? main;
  return {
    name: main.name,
    ...(main.model === undefined ? {} : { model: main.model }),
    ...(main.server === undefined ? {} : { server: main.server }),
    ...(main.examplePhrases === undefined ? {} : { examplePhrases: main.examplePhrases }),
    models: [...byName.keys()],
    unusable: () =>
      [main, ...others].map((engine) => engine.unusable?.() ?? null).find((one) => one !== null) ?? null,
    engineOf,
    takesAudio: (name) => engineOf(name).takesAudio?.(name) ?? false,
    generate: (request, signal) => engineOf(request.model).generate(request, signal),
    async close() {
      await Promise.all([main, ...others].map((engine) => engine.close()));
    },
  };
}
