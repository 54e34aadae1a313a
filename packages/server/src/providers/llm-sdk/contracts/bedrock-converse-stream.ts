/**
 * What AWS documents of Amazon Bedrock's ConverseStream, as far as Parley uses it, as shapes that refuse anything else.
 * The fake vendor checks requests against them and answers in them; a test compares both with what is really sent.
 *
 * "Request" below: Amazon Bedrock API reference, ConverseStream, and the types that it names. "Output": ConverseStreamOutput.
 * "Caching": User guide, Prompt caching.
 */

import { z } from "zod";

/** Caching: `cachePoint`, in the system prompt and in messages. */
const CachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal("default") }), // Request, CachePointBlock: `type`
});
/** Request, ToolUseBlock: `toolUseId`. */
const ToolUseId = z.string().regex(/^[a-zA-Z0-9_.:-]{1,64}$/);
const Block = z.union([
  z.strictObject({ text: z.string().min(1) }), // Request, ContentBlock: `text`
  CachePoint,
  z.strictObject({
    toolUse: z.strictObject({
      toolUseId: ToolUseId, // Request, ToolUseBlock: `toolUseId`
      name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), // Request, ToolUseBlock: `name`
      input: z.record(z.string(), z.unknown()), // Request, ToolUseBlock: `input`, an object
    }),
  }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId: ToolUseId, // Request, ToolResultBlock: `toolUseId`
      content: z.array(z.strictObject({ text: z.string() })), // Request, ToolResultContentBlock: `text`
      status: z.enum(["success", "error"]).optional(), // Request, ToolResultBlock: `status`
    }),
  }),
]);

/** Request: body. The model is in the path. */
export const Request = z.strictObject({
  messages: z
    .array(
      z.strictObject({
        role: z.enum(["user", "assistant"]), // Request, Message: `role`
        content: z.array(Block).min(1), // Request, Message: `content`
      }),
    )
    .min(1), // Request: `messages`
  system: z.array(z.union([z.strictObject({ text: z.string().min(1) }), CachePoint])).optional(), // Request, SystemContentBlock
  inferenceConfig: z.strictObject({ temperature: z.number().min(0).max(1).optional() }).optional(), // Request, InferenceConfiguration: `temperature`
  toolConfig: z
    .strictObject({
      tools: z.array(
        z.strictObject({
          toolSpec: z.strictObject({
            name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), // Request, ToolSpecification: `name`
            description: z.string().min(1).optional(), // Request, ToolSpecification: `description`
            strict: z.boolean().optional(), // Request, ToolSpecification: `strict`
            inputSchema: z.strictObject({ json: z.looseObject({}) }), // Request, ToolInputSchema: `json`
          }),
        }),
      ),
      toolChoice: z.strictObject({ auto: z.strictObject({}) }).optional(), // Request, ToolChoice: `auto`
    })
    .optional(), // Request: `toolConfig`
  additionalModelRequestFields: z.looseObject({}).optional(), // Request: `additionalModelRequestFields`
  additionalModelResponseFieldPaths: z.array(z.string()).max(10).optional(), // Request: `additionalModelResponseFieldPaths`, at most 10
});
export type Request = z.output<typeof Request>;

const ContentBlockIndex = z.int().min(0); // Output: `contentBlockIndex` of all events of a block

/** Output: the payload of each message, by its header `:event-type`. */
export const STREAM_EVENTS = {
  messageStart: z.strictObject({ role: z.literal("assistant") }), // Output, MessageStartEvent
  contentBlockStart: z.strictObject({
    contentBlockIndex: ContentBlockIndex, // Output, ContentBlockStartEvent
    start: z.strictObject({ toolUse: z.strictObject({ toolUseId: z.string(), name: z.string() }) }), // Output, ToolUseBlockStart
  }),
  contentBlockDelta: z.strictObject({
    contentBlockIndex: ContentBlockIndex, // Output, ContentBlockDeltaEvent
    delta: z.union([
      z.strictObject({ text: z.string() }), // Output, ContentBlockDelta: `text`
      z.strictObject({ toolUse: z.strictObject({ input: z.string() }) }), // Output, ToolUseBlockDelta: `input`, a text
    ]),
  }),
  contentBlockStop: z.strictObject({ contentBlockIndex: ContentBlockIndex }), // Output, ContentBlockStopEvent
  messageStop: z.strictObject({
    stopReason: z.enum([
      "end_turn",
      "tool_use",
      "max_tokens",
      "stop_sequence",
      "guardrail_intervened",
      "content_filtered",
    ]), // Output, MessageStopEvent
  }),
  metadata: z.strictObject({
    usage: z.strictObject({
      inputTokens: z.int(), // Output, TokenUsage: without those of the cache
      outputTokens: z.int(), // Output, TokenUsage
      totalTokens: z.int(), // Output, TokenUsage
      cacheReadInputTokens: z.int().optional(), // Output, TokenUsage
      cacheWriteInputTokens: z.int().optional(), // Output, TokenUsage
    }),
    metrics: z.strictObject({ latencyMs: z.int() }), // Output, ConverseStreamMetrics
  }),
} as const;

/** Request, Errors: the kind is in the header `x-amzn-ErrorType`. */
export const Refusal = z.strictObject({
  message: z.string(), // Request, Errors: `message`
});
