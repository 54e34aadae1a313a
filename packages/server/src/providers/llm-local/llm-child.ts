/** Program of the process of a language model. */

import { runModel } from "../local-child/child-program.ts";
import { Generations } from "./generations.ts";
import type { LlmAnswer, LlmLoadOrder, ToLlmChild } from "./llm-protocol.ts";
import { loadLlama } from "./load-llama.ts";

runModel<ToLlmChild, LlmAnswer, LlmLoadOrder>(async (order, tell) => {
  const generations = new Generations(await loadLlama(order), tell);
  return (message) => generations.take(message);
});
