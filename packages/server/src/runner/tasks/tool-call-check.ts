/** Validates a tool call of the model. */

import type { LlmTool, LlmToolCall } from "@parley/schema";

/** What is wrong with a value, or null. Never rejects. */
export type CheckArguments = (
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
) => Promise<string | null>;

/** Limit of characters of the arguments as JSON: a tool takes a form, not a document. */
const MAX_ARGUMENT_CHARS = 65_536;
/** Calls of one generation that are executed; a model that makes more is no longer deciding. */
const MAX_CALLS = 16;
/** Limit of calls of one generation that get an answer. */
const MAX_CALLS_ANSWERED = 64;

export interface CheckedToolCall {
  /** Without its arguments when they are too large to store. */
  readonly call: LlmToolCall;
  readonly problem: string | null;
}

/**
 * Rejects when the model made too many tool calls.
 *
 * @param index of the call within its generation, from 0
 */
export async function checkToolCall(
  call: LlmToolCall,
  index: number,
  tools: readonly LlmTool[],
  checkArguments: CheckArguments,
): Promise<CheckedToolCall> {
  if (index >= MAX_CALLS_ANSWERED) throw new Error("the model made too many tool calls");
  if (JSON.stringify(call.arguments).length > MAX_ARGUMENT_CHARS) {
    const problem = `the arguments are longer than ${String(MAX_ARGUMENT_CHARS)} characters`;
    return { call: { ...call, arguments: {} }, problem };
  }
  if (index >= MAX_CALLS)
    return { call, problem: `at most ${String(MAX_CALLS)} tools can be called at once` };
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) return { call, problem: "there is no tool of this name" };
  return { call, problem: await checkArguments(tool.parameters, call.arguments) };
}
