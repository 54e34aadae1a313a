/**
 * What Anthropic documents of its Messages API, as far as Parley uses it, as shapes that refuse anything else. The fake
 * vendor checks requests against them and answers in them; a test compares both with what is really sent.
 *
 * "Messages" below: Anthropic API reference, Create a Message. "Streaming": Streaming Messages. "Caching": Prompt caching.
 * "Tools": Tool use, Fine-grained tool streaming. "Errors": API reference, Errors. "Versions": API versioning.
 */

import { z } from "zod";

/** Versions: `anthropic-version`, required. */
export const VERSION = "2023-06-01";
/** Caching: "up to 4 cache breakpoints". */
export const CACHE_MARKS_MAX = 4;

/** Caching: `cache_control`, of system texts, blocks and tools. */
const CacheControl = z.strictObject({
  type: z.literal("ephemeral"), // Caching: the only type
  ttl: z.enum(["5m", "1h"]).optional(), // Caching: 1-hour cache duration
});
const cached = { cache_control: CacheControl.optional() };

const Text = z.strictObject({
  type: z.literal("text"), // Messages: `content[].type`
  text: z.string().min(1), // Messages: text blocks are never empty
  ...cached,
});
const ToolUse = z.strictObject({
  type: z.literal("tool_use"), // Messages: `content[].type`
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/), // Messages: `tool_use.id`
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/), // Messages: `tools[].name`
  input: z.record(z.string(), z.unknown()), // Messages: `tool_use.input`, an object
  ...cached,
});
const ToolResult = z.strictObject({
  type: z.literal("tool_result"), // Messages: `content[].type`
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/), // Messages: `tool_result.tool_use_id`
  content: z.union([z.string(), z.array(Text)]), // Messages: `tool_result.content`
  is_error: z.boolean().optional(), // Messages: `tool_result.is_error`
  ...cached,
});

/** Messages: body. */
export const Request = z.strictObject({
  model: z.string().min(1), // Messages: `model`
  max_tokens: z.int().min(1), // Messages: `max_tokens`, required
  messages: z
    .array(
      z.strictObject({
        role: z.enum(["user", "assistant"]), // Messages: `messages[].role`
        content: z.union([
          z.string().min(1), // Messages: a text stands for one text block
          z.array(z.discriminatedUnion("type", [Text, ToolUse, ToolResult])).min(1), // Messages: `messages[].content`
        ]),
      }),
    )
    .min(1), // Messages: `messages`
  stream: z.literal(true), // Streaming: `stream`
  system: z.union([z.string(), z.array(Text)]).optional(), // Messages: `system`
  temperature: z.number().min(0).max(1).optional(), // Messages: `temperature`, 0 to 1
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/), // Messages: `tools[].name`
        description: z.string().optional(), // Messages: `tools[].description`
        input_schema: z.looseObject({ type: z.literal("object") }), // Messages: `tools[].input_schema`
        eager_input_streaming: z.boolean().optional(), // Tools: `eager_input_streaming`
        ...cached,
      }),
    )
    .optional(), // Messages: `tools`
  tool_choice: z.strictObject({ type: z.enum(["auto", "any", "none"]) }).optional(), // Messages: `tool_choice`
});
export type Request = z.output<typeof Request>;

const Usage = z.strictObject({
  input_tokens: z.int(), // Messages: `usage.input_tokens`, without those of the cache
  cache_creation_input_tokens: z.int(), // Caching: `usage.cache_creation_input_tokens`
  cache_read_input_tokens: z.int(), // Caching: `usage.cache_read_input_tokens`
  output_tokens: z.int(), // Messages: `usage.output_tokens`
});

const StopReason = z.enum([
  "end_turn", // Messages: `stop_reason`
  "max_tokens", // Messages: `stop_reason`
  "stop_sequence", // Messages: `stop_reason`
  "tool_use", // Messages: `stop_reason`
  "pause_turn", // Messages: `stop_reason`
  "refusal", // Messages: `stop_reason`
]);

/** Streaming, Event types: the `data` of each event; its name is that of `event`. */
export const StreamEvent = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("message_start"), // Streaming: the first event
    message: z.strictObject({
      id: z.string(), // Messages: `id`
      type: z.literal("message"), // Messages: `type`
      role: z.literal("assistant"), // Messages: `role`
      model: z.string(), // Messages: `model`
      content: z.tuple([]), // Streaming: empty in this event
      stop_reason: z.null(), // Messages: null in this event
      stop_sequence: z.null(), // Messages: `stop_sequence`
      usage: Usage, // Messages: `usage`
    }),
  }),
  z.strictObject({ type: z.literal("ping") }), // Streaming, Ping events
  z.strictObject({
    type: z.literal("content_block_start"), // Streaming: before the deltas of a block
    index: z.int(), // Streaming: the place of the block
    content_block: z.union([
      z.strictObject({ type: z.literal("text"), text: z.literal("") }), // Streaming: empty at first
      z.strictObject({
        type: z.literal("tool_use"), // Streaming, Input JSON delta
        id: z.string(), // Messages: `tool_use.id`
        name: z.string(), // Messages: `tool_use.name`
        input: z.strictObject({}), // Streaming: empty at first
      }),
    ]),
  }),
  z.strictObject({
    type: z.literal("content_block_delta"), // Streaming, Content block delta types
    index: z.int(), // Streaming: the place of the block
    delta: z.discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text_delta"), text: z.string() }), // Streaming, Text delta
      z.strictObject({ type: z.literal("input_json_delta"), partial_json: z.string() }), // Streaming, Input JSON delta
    ]),
  }),
  z.strictObject({ type: z.literal("content_block_stop"), index: z.int() }), // Streaming: after the deltas of a block
  z.strictObject({
    type: z.literal("message_delta"), // Streaming: changes of the message
    delta: z.strictObject({ stop_reason: StopReason, stop_sequence: z.string().nullable() }), // Streaming: `delta`
    usage: z.strictObject({ output_tokens: z.int() }), // Streaming: `usage` counts from the beginning
  }),
  z.strictObject({ type: z.literal("message_stop") }), // Streaming: the last event
  z.strictObject({
    type: z.literal("error"), // Streaming, Error events
    error: z.strictObject({ type: z.string(), message: z.string() }), // Errors: `error`
  }),
]);

/** Errors, HTTP errors: the words of each status. */
export const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error", // Errors: 400
  401: "authentication_error", // Errors: 401
  403: "permission_error", // Errors: 403
  404: "not_found_error", // Errors: 404
  429: "rate_limit_error", // Errors: 429
  500: "api_error", // Errors: 500
  529: "overloaded_error", // Errors: 529
};

/** Errors, Error shapes. */
export const Refusal = z.strictObject({
  type: z.literal("error"), // Errors: `type`
  error: z.strictObject({
    type: z.string(), // Errors: `error.type`
    message: z.string(), // Errors: `error.message`
  }),
  request_id: z.string().optional(), // Errors, Request id
});
