/** Whether a tool call that the model made can be carried out. */

import type { ReplyTool } from "../call/effects.ts";
import type { LlmToolCall } from "../ports/llm.ts";

/** What is wrong with a value, or null. Never throws. */
export type CheckArguments = (schema: Readonly<Record<string, unknown>>, value: unknown) => string | null;

/** Characters of the arguments as JSON: what a tool takes is a form, not a document. */
const MAX_ARGUMENT_CHARS = 65_536;
/** Calls of one generation that are carried out; a model that goes on is not deciding any more. */
const MAX_CALLS = 16;
/** Calls of one generation that are answered at all. */
const MAX_CALLS_ANSWERED = 64;

export interface CheckedToolCall {
  /** Without its arguments when they are too large to be kept. */
  readonly call: LlmToolCall;
  readonly problem: string | null;
}

/**
 * @param index of the call within its generation, from 0
 * @throws when the model calls tools without end
 */
export function checkToolCall(
  call: LlmToolCall,
  index: number,
  tools: readonly ReplyTool[],
  checkArguments: CheckArguments,
): CheckedToolCall {
  if (index >= MAX_CALLS_ANSWERED) throw new Error("the model calls tools without end");
  if (JSON.stringify(call.arguments).length > MAX_ARGUMENT_CHARS) {
    const problem = `the arguments are longer than ${String(MAX_ARGUMENT_CHARS)} characters`;
    return { call: { ...call, arguments: {} }, problem };
  }
  if (index >= MAX_CALLS)
    return { call, problem: `at most ${String(MAX_CALLS)} tools can be called at once` };
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return { call, problem: "there is no tool of this name" };
  return { call, problem: checkArguments(tool.parameters, call.arguments) };
}
