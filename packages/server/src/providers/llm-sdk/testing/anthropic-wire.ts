/** Anthropic's Messages API, streamed: https://docs.anthropic.com/en/api/messages-streaming */

import { z } from "zod";
import {
  CACHE_MARKS_MAX,
  ERROR_TYPES,
  Refusal,
  Request,
  StreamEvent,
  VERSION,
} from "../contracts/anthropic-messages.ts";
import { checkedEvents, eventDocuments, events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

export const anthropicWire: VendorWire = {
  contentType: "text/event-stream",
  problemOf(request) {
    const head = headProblem(request, { path: "/v1/messages", header: "x-api-key", value: KEY });
    if (head !== null) return head;
    if (request.headers["anthropic-version"] !== VERSION)
      return { status: 400, message: "anthropic-version: header is required" };
    const body = Request.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data) ?? marksProblem(request.body);
    return message === null ? null : { status: 400, message };
  },
  asked(body) {
    const { messages } = Request.parse(body);
    return JSON.stringify(messages.at(-1)?.content, (key, value: unknown) =>
      key === "cache_control" ? undefined : value,
    );
  },
  encode({ texts, toolCalls = [], inputTokens, cachedTokens = 0, outputTokens }) {
    const usage = {
      input_tokens: inputTokens - cachedTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: cachedTokens,
      output_tokens: 1,
    };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [] };
    const blocks = [
      ...(texts.length === 0
        ? []
        : [
            {
              start: { type: "text", text: "" },
              deltas: texts.map((text) => ({ type: "text_delta", text })),
            },
          ]),
      ...toolCalls.map(({ id, name, arguments: input }) => ({
        start: { type: "tool_use", id, name, input: {} },
        deltas: ["", ...halves(JSON.stringify(input))].map((partial_json) => ({
          type: "input_json_delta",
          partial_json,
        })),
      })),
    ];
    const stop_reason = toolCalls.length === 0 ? "end_turn" : "tool_use";
    return events(
      checkedEvents(StreamEvent, [
        [
          "message_start",
          { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } },
        ],
        ["ping", { type: "ping" }],
        ...blocks.flatMap(({ start, deltas }, index) => [
          ["content_block_start", { type: "content_block_start", index, content_block: start }],
          ...deltas.map((delta) => ["content_block_delta", { type: "content_block_delta", index, delta }]),
          ["content_block_stop", { type: "content_block_stop", index }],
        ]),
        [
          "message_delta",
          {
            type: "message_delta",
            delta: { stop_reason, stop_sequence: null },
            usage: { output_tokens: outputTokens },
          },
        ],
        ["message_stop", { type: "message_stop" }],
      ]),
    );
  },
  documents: (unit) => eventDocuments(StreamEvent, unit),
  refusal: ({ status, message }) =>
    JSON.stringify(
      Refusal.parse({ type: "error", error: { type: ERROR_TYPES[status] ?? "api_error", message } }),
    ),
};

export function halves(text: string): readonly string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function orderProblem({ messages }: Request): string | null {
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  if (messages.at(-1)?.role !== "user") return "the conversation must end with a user message";
  for (const [index, { role, content }] of messages.entries()) {
    if (messages[index + 1]?.role === role) return `messages.${index + 1}: roles must alternate`;
    const blocks = typeof content === "string" ? [] : content;
    const uses = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
    const next = messages[index + 1]?.content ?? [];
    const results = (typeof next === "string" ? [] : next).flatMap((block) =>
      block.type === "tool_result" ? [block.tool_use_id] : [],
    );
    if (uses.toSorted().join() !== results.toSorted().join())
      return `messages.${index + 1}: tool_use ids and tool_result ids differ`;
  }
  return null;
}

function marksProblem(body: string): string | null {
  return body.split('"cache_control"').length - 1 > CACHE_MARKS_MAX
    ? "too many blocks with cache_control"
    : null;
}
