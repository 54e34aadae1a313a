/** Maps a request of the port to the prompt of the `ai` SDK. Pure. */

import { createHash } from "node:crypto";
import type { ModelMessage, SystemModelMessage, UserModelMessage } from "ai";
import type { LlmMessage, LlmToolCall } from "@parley/schema";
import type { LlmRequest } from "../../ports/llm.ts";
import { withCacheMarks, type CacheMark } from "./cache-marks.ts";

/** What a vendor's servers accept. */
export interface PromptShape {
  /**
   * The first message is the user's, and two messages of the model in a row are one: Anthropic, Google and Amazon
   * Bedrock refuse other histories.
   */
  readonly alternates: boolean;
  /** After results of tools comes the model, never the user: Mistral refuses other histories. */
  readonly answersResults: boolean;
  /** Marks the parts of a prompt that repeat; null: the server finds them by itself, or has no cache. */
  readonly cacheMark: CacheMark | null;
}

/** OpenAI, and servers with its protocol. */
export const PLAIN_SHAPE: PromptShape = { alternates: false, answersResults: false, cacheMark: null };

export interface SdkPrompt {
  /** The system message, or an empty string; with cache marks a message for each part that has its own. */
  readonly system: string | SystemModelMessage[];
  /** Never empty, and never ends with the model's own words. */
  readonly messages: ModelMessage[];
}

/**
 * Replaces the caller's turn where there is none, as before a greeting: many chat templates refuse a history without a
 * user message, or continue the model's own last one.
 */
const SILENT_CALLER = "[The caller is on the line and has not said anything new.]";
/** Stands before a greeting where a history must begin with the user. The same in each request, so that caches apply. */
const CALL_BEGINS = "[The call begins.]";
/** Replaces a result that is missing in the history: servers refuse a history with an unanswered tool call. */
const LOST_RESULT = "[No result was recorded.]";
/** Replaces the reply to results that the user has interrupted before its first word. */
const NO_REPLY = "…";

export function toPrompt(request: LlmRequest, shape: PromptShape = PLAIN_SHAPE): SdkPrompt {
  const { systemPrompt, instruction, language, messages } = request;
  const lasting = joined([
    systemPrompt,
    language === null ? "" : `Speak the language with the BCP 47 tag ${language} unless asked for another.`,
  ]);
  const mapped = shaped(mapMessages(messages, request.audio ?? []), shape);
  const last = mapped.at(-1)?.role;
  if (last === undefined || last === "assistant") mapped.push({ role: "user", content: SILENT_CALLER });
  const { cacheMark } = shape;
  // One message, because templates of common models accept a system message only at the start.
  if (cacheMark === null) return { system: joined([lasting, instruction ?? ""]), messages: mapped };
  return withCacheMarks({ lasting, instruction: instruction?.trim() ?? "", messages: mapped }, cacheMark);
}

function joined(texts: readonly string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Every tool call gets exactly one result, right after it; a result without its call gets a call. */
function mapMessages(
  messages: readonly LlmMessage[],
  audio: NonNullable<LlmRequest["audio"]>,
): ModelMessage[] {
  const results = new Map<string, string>();
  for (const message of messages)
    if (message.role === "tool" && !results.has(message.invocationId))
      results.set(message.invocationId, message.text);
  const spoken = new Map(audio.map(({ messageIndex, wav }) => [messageIndex, wav]));
  const answered = new Set<string>();
  const mapped: ModelMessage[] = [];
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case "user":
        mapped.push(userMessage(message.text, spoken.get(index)));
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

/** The voice replaces the transcript, which may have mistakes that the model would otherwise believe. */
function userMessage(text: string, wav: Uint8Array | undefined): UserModelMessage {
  if (wav === undefined) return { role: "user", content: text };
  return { role: "user", content: [{ type: "file", mediaType: "audio/wav", data: wav }] };
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
          toolCallId: callId(call.id),
          toolName: call.name,
          input: call.arguments,
        })),
      ],
    },
    {
      role: "tool",
      content: calls.map((call) => ({
        type: "tool-result" as const,
        toolCallId: callId(call.id),
        toolName: call.name,
        output: { type: "text" as const, value: results.get(call.id) ?? LOST_RESULT },
      })),
    },
  ];
}

const CALL_ID = /^[a-zA-Z0-9]{9}$/;

/**
 * An id that every vendor accepts, the same in each request. Ids of the history may come from another vendor or from the
 * user of the interface. Mistral, and servers that run its models with its own tokenizer, accept nine letters and digits
 * only; OpenAI at most 40 characters; Anthropic letters, digits, `_` and `-`.
 */
function callId(id: string): string {
  return CALL_ID.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}

function shaped(messages: readonly ModelMessage[], shape: PromptShape): ModelMessage[] {
  const result: ModelMessage[] = [];
  for (const message of messages) {
    const before = result.at(-1);
    if (shape.alternates && before === undefined && message.role !== "user")
      result.push({ role: "user", content: CALL_BEGINS });
    if (shape.answersResults && before?.role === "tool" && message.role === "user")
      result.push({ role: "assistant", content: NO_REPLY });
    if (shape.alternates && before?.role === "assistant" && message.role === "assistant")
      result.splice(-1, 1, {
        role: "assistant",
        content: [...partsOf(before.content), ...partsOf(message.content)],
      });
    else result.push(message);
  }
  return result;
}

type AssistantContent = Extract<ModelMessage, { role: "assistant" }>["content"];

function partsOf(content: AssistantContent): Exclude<AssistantContent, string> {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
