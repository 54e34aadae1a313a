/** Maps a request of the port to the prompt of the `ai` SDK. Pure. */

import type { ModelMessage } from "ai";
import type { LlmMessage, LlmToolCall } from "@parley/schema";
import type { LlmRequest } from "../../ports/llm.ts";

export interface OpenAiPrompt {
  /** The system message, or an empty string. */
  readonly system: string;
  /** Never empty, and never ends with the model's own words. */
  readonly messages: ModelMessage[];
}

/**
 * Replaces the caller's turn where there is none, as before a greeting: many chat templates refuse a history without a
 * user message, or continue the model's own last one.
 */
const SILENT_CALLER = "[The caller is on the line and has not said anything new.]";
/** Replaces a result that is missing in the history: servers refuse a history with an unanswered tool call. */
const LOST_RESULT = "[No result was recorded.]";

export function toPrompt({ systemPrompt, instruction, language, messages }: LlmRequest): OpenAiPrompt {
  // One message, because templates of common models accept a system message only at the start.
  const system = [
    systemPrompt.trim(),
    language === null ? "" : `Speak the language with the BCP 47 tag ${language} unless asked for another.`,
    instruction?.trim() ?? "",
  ];
  const mapped = mapMessages(messages);
  const last = mapped.at(-1)?.role;
  if (last === undefined || last === "assistant") mapped.push({ role: "user", content: SILENT_CALLER });
  return { system: system.filter((text) => text !== "").join("\n\n"), messages: mapped };
}

/** Every tool call gets exactly one result, right after it; a result without its call gets a call. */
function mapMessages(messages: readonly LlmMessage[]): ModelMessage[] {
  const results = new Map<string, string>();
  for (const message of messages)
    if (message.role === "tool" && !results.has(message.invocationId))
      results.set(message.invocationId, message.text);
  const answered = new Set<string>();
  const mapped: ModelMessage[] = [];
  for (const message of messages) {
    switch (message.role) {
      case "user":
        mapped.push({ role: "user", content: message.text });
        break;
      case "agent": {
        const calls: LlmToolCall[] = [];
        for (const call of message.toolCalls ?? []) {
          if (answered.has(call.id)) continue;
          answered.add(call.id);
          calls.push(call);
        }
        if (calls.length === 0) {
          if (message.text !== "") mapped.push({ role: "assistant", content: message.text });
          break;
        }
        mapped.push(...exchange(message.text, calls, results));
        break;
      }
      case "tool":
        if (answered.has(message.invocationId)) break;
        answered.add(message.invocationId);
        mapped.push(
          ...exchange("", [{ id: message.invocationId, name: message.toolName, arguments: {} }], results),
        );
        break;
    }
  }
  return mapped;
}

function exchange(
  text: string,
  calls: readonly LlmToolCall[],
  results: ReadonlyMap<string, string>,
): ModelMessage[] {
  return [
    {
      role: "assistant",
      content: [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...calls.map((call) => ({
          type: "tool-call" as const,
          toolCallId: call.id,
          toolName: call.name,
          input: call.arguments,
        })),
      ],
    },
    {
      role: "tool",
      content: calls.map((call) => ({
        type: "tool-result" as const,
        toolCallId: call.id,
        toolName: call.name,
        output: { type: "text" as const, value: results.get(call.id) ?? LOST_RESULT },
      })),
    },
  ];
}
