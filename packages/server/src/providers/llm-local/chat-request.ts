/** Maps a request of the port to the form of node-llama-cpp. Pure. */

import type { ModelMessage } from "ai";
import type { LlmRequest } from "../../ports/llm.ts";
import { PLAIN_SHAPE, toPrompt, type PromptShape } from "../llm-sdk/prompt.ts";
import type { ChatFunction, ChatItem, ChatRequest, ChatToolCall } from "./llm-protocol.ts";
import { grammarSchema } from "./tool-schema.ts";

/** Longer replies are cut. It is five minutes of speech, so only a model that repeats itself gets there. */
export const MAX_REPLY_TOKENS = 1_024;

/** Templates of small models refuse two messages of one side in a row. */
const SHAPE: PromptShape = { ...PLAIN_SHAPE, alternates: true };

export function chatRequest(request: LlmRequest, maxTokens = MAX_REPLY_TOKENS): ChatRequest {
  const { audio: _unheard, instruction, ...rest } = request;
  const { system, messages } = toPrompt({ ...rest, instruction: null }, SHAPE);
  const history: ChatItem[] =
    typeof system === "string" && system !== "" ? [{ type: "system", text: system }] : [];
  for (const message of messages) append(history, message, resultsIn(messages));
  if (instruction !== null && instruction.trim() !== "") appendInstruction(history, instruction.trim());
  const functions = request.tools.map(({ name, description, parameters }): [string, ChatFunction] => {
    const params = grammarSchema(parameters);
    return [name, { description, ...(params === null ? {} : { params }) }];
  });
  return { history, functions: Object.fromEntries(functions), temperature: request.temperature, maxTokens };
}

/** By the ids of their calls. */
function resultsIn(messages: readonly ModelMessage[]): ReadonlyMap<string, string> {
  const results = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== "tool") continue;
    for (const part of message.content)
      if (part.type === "tool-result" && part.output.type === "text")
        results.set(part.toolCallId, part.output.value);
  }
  return results;
}

/** Values within values. Much deeper ones cannot be sent to another process, nor be written as JSON. */
const MAX_DEPTH = 64;

function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

/** Templates write results as JSON: a document is given as its value, or it would be escaped as a text. */
function resultOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(value) ? text : value;
  } catch {
    return text; // It only begins like a document.
  }
}

function append(history: ChatItem[], message: ModelMessage, results: ReadonlyMap<string, string>): void {
  const { role, content } = message;
  if (role === "user") {
    const text = typeof content === "string" ? content : "";
    const before = history.at(-1);
    // Two turns of the caller, where the model was interrupted before its first word.
    if (before?.type === "user") history.splice(-1, 1, { type: "user", text: `${before.text}\n${text}` });
    else history.push({ type: "user", text });
    return;
  }
  if (role !== "assistant") return;
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const said: (string | ChatToolCall)[] = [];
  let calls = 0;
  for (const part of parts) {
    if (part.type === "text") said.push(part.text);
    if (part.type !== "tool-call") continue;
    said.push({
      type: "functionCall",
      name: part.toolName,
      params: isTooDeep(part.input) ? {} : part.input,
      result: resultOf(results.get(part.toolCallId) ?? ""),
      startsNewChunk: calls === 0,
    });
    calls += 1;
  }
  const before = history.at(-1);
  // Results of tools are a part of what the model says.
  if (before?.type === "model")
    history.splice(-1, 1, { type: "model", response: [...before.response, ...said] });
  else history.push({ type: "model", response: said });
}

/**
 * At the end, because it is for this request only: what comes before it is the same in the next request, and need not be
 * computed again.
 */
function appendInstruction(history: ChatItem[], instruction: string): void {
  const last = history.at(-1);
  const text = `[${instruction}]`;
  if (last?.type === "user") history.splice(-1, 1, { type: "user", text: `${last.text}\n\n${text}` });
  else history.push({ type: "user", text });
}
