/** Anthropic's Messages API, streamed: https://docs.anthropic.com/en/api/messages-streaming */

import { z } from "zod";
import { events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

const CacheControl = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() });
const cached = { cache_control: CacheControl.optional() };
/** "text content blocks must be non-empty" */
const Text = z.strictObject({ type: z.literal("text"), text: z.string().min(1), ...cached });
const ToolUse = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[\w-]+$/),
  name: z.string().regex(/^[\w-]{1,128}$/),
  input: z.record(z.string(), z.unknown()),
  ...cached,
});
const ToolResult = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(Text)]),
  is_error: z.boolean().optional(),
  ...cached,
});
const Block = z.discriminatedUnion("type", [Text, ToolUse, ToolResult]);
const Message = z.strictObject({
  role: z.enum(["user", "assistant"]),
  content: z.union([z.string().min(1), z.array(Block).min(1)]),
});
const Body = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  messages: z.array(Message).min(1),
  stream: z.literal(true),
  system: z.union([z.string(), z.array(Text)]).optional(),
  temperature: z.number().min(0).max(1).optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[\w-]{1,128}$/),
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        eager_input_streaming: z.boolean().optional(),
        ...cached,
      }),
    )
    .optional(),
  tool_choice: z.strictObject({ type: z.enum(["auto", "any", "none"]) }).optional(),
});
type Body = z.output<typeof Body>;

export const anthropicWire: VendorWire = {
  contentType: "text/event-stream",
  problemOf(request) {
    const head = headProblem(request, { path: "/v1/messages", header: "x-api-key", value: KEY });
    if (head !== null) return head;
    if (request.headers["anthropic-version"] !== "2023-06-01")
      return { status: 400, message: "anthropic-version: header is required" };
    const body = Body.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data) ?? marksProblem(request.body);
    return message === null ? null : { status: 400, message };
  },
  asked(body) {
    const { messages } = Body.parse(body);
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
    return events([
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
    ]);
  },
  refusal: ({ status, message }) =>
    JSON.stringify({ type: "error", error: { type: TYPES[status] ?? "api_error", message } }),
};

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

export function halves(text: string): readonly string[] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

function orderProblem({ messages }: Body): string | null {
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

/** "A maximum of 4 blocks with cache_control may be provided." */
function marksProblem(body: string): string | null {
  return body.split('"cache_control"').length - 1 > 4 ? "too many blocks with cache_control" : null;
}
