/** Program of a process that speaks the protocol of a language model's process, without a model and its package. */

import { runModel } from "../../local-child/child-program.ts";
import { Generations } from "../generations.ts";
import type { LlmAnswer, LlmLoadOrder, ToLlmChild } from "../llm-protocol.ts";
import { openWordLlama } from "./word-llama.ts";

runModel<ToLlmChild, LlmAnswer, LlmLoadOrder>(({ contextTokens, parallel }, tell) => {
  const generations = new Generations(openWordLlama({ contextTokens, parallel }), tell);
  return (message) => generations.take(message);
});
