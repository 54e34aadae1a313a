/**
 * What OpenAI documents of its chat completions, and what the vendors that have copied it document of theirs, as far as
 * Parley uses it, as shapes that refuse anything else. The fakes check requests against them and answer in them; a test
 * compares both with what is really sent.
 *
 * "Chat" below: OpenAI API reference, Create chat completion. "Chunk": The chat completion chunk object. "Audio": Audio
 * inputs. "Errors": OpenAI, Error codes. "Groq": Groq API reference, Create chat completion. "Mistral": Mistral API
 * reference, Chat completion. "vLLM": vLLM, OpenAI-compatible server. "OpenRouter": OpenRouter, API reference, Streaming.
 */

import { z } from "zod";

/** What a vendor has of its own. */
export interface ChatRules {
  /** With the query, such as `/v1/chat/completions`. */
  readonly path: string;
  /** Top-level fields besides those that all have. */
  readonly fields: readonly string[];
  /** Of Mistral: nobody but the model speaks after a result, and ids have nine letters and digits. */
  readonly dialect?: "mistral" | "groq";
  /** Whether `input_audio` is accepted. */
  readonly hears?: true;
}

/** Fields that all of these vendors have. */
export const COMMON_FIELDS = [
  "model", // Chat: `model`
  "messages", // Chat: `messages`
  "stream", // Chat: `stream`
  "temperature", // Chat: `temperature`
  "tools", // Chat: `tools`
  "tool_choice", // Chat: `tool_choice`
] as const;

/** OpenAI refuses longer ids with "string too long". */
const CallId = z.string().min(1).max(40);
/** Mistral: "must be a-z, A-Z, 0-9, with a length of 9". */
export const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

const UserPart = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("text"), // Chat: `messages[].content[].type`
    text: z.string(), // Chat: `messages[].content[].text`
  }),
  z.strictObject({
    type: z.literal("input_audio"), // Audio: `messages[].content[].type`; vLLM: the same
    input_audio: z.strictObject({
      data: z.base64(), // Audio: `input_audio.data`
      format: z.literal("wav"), // Audio: `input_audio.format`, wav or mp3
    }),
  }),
]);

const Message = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("system"), // Chat: system message
    content: z.string().min(1), // Chat: `content`
  }),
  z.strictObject({
    role: z.literal("user"), // Chat: user message
    content: z.union([z.string(), z.array(UserPart).min(1)]), // Chat: `content`
  }),
  z.strictObject({
    role: z.literal("assistant"), // Chat: assistant message
    content: z.string().nullish(), // Chat: `content`, null with calls of tools
    tool_calls: z
      .array(
        z.strictObject({
          id: CallId, // Chat: `tool_calls[].id`
          type: z.literal("function"), // Chat: `tool_calls[].type`
          function: z.strictObject({
            name: z.string(), // Chat: `tool_calls[].function.name`
            arguments: z.string(), // Chat: `tool_calls[].function.arguments`, JSON as a text
          }),
        }),
      )
      .optional(), // Chat: `tool_calls`
    prefix: z.literal(true).optional(), // Mistral: `messages[].prefix`
  }),
  z.strictObject({
    role: z.literal("tool"), // Chat: tool message
    tool_call_id: CallId, // Chat: `tool_call_id`
    name: z.string().optional(), // Mistral: `messages[].name`
    content: z.string(), // Chat: `content`
  }),
]);

/** Chat: body. Top-level fields are checked by the rules of the vendor. */
export const Request = z.looseObject({
  model: z.string().min(1), // Chat: `model`
  messages: z.array(Message).min(1), // Chat: `messages`
  stream: z.literal(true), // Chat: `stream`
  stream_options: z.strictObject({ include_usage: z.literal(true) }).optional(), // Chat: `stream_options.include_usage`
  temperature: z.number().min(0).max(1.5).optional(), // Chat: `temperature`, 0 to 2; Mistral: 0 to 1.5
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"), // Chat: `tools[].type`
        function: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/), // Chat: `tools[].function.name`
          description: z.string().optional(), // Chat: `tools[].function.description`
          parameters: z.looseObject({}), // Chat: `tools[].function.parameters`
          strict: z.boolean().optional(), // Chat: `tools[].function.strict`
        }),
      }),
    )
    .min(1)
    .optional(), // Chat: `tools`
  tool_choice: z.enum(["auto", "none"]).optional(), // Chat: `tool_choice`
});
export type Request = z.output<typeof Request>;

const Usage = z.strictObject({
  prompt_tokens: z.int(), // Chunk: `usage.prompt_tokens`, those of the cache included
  completion_tokens: z.int(), // Chunk: `usage.completion_tokens`
  total_tokens: z.int(), // Chunk: `usage.total_tokens`
  prompt_tokens_details: z.strictObject({ cached_tokens: z.int() }).optional(), // Chunk: `usage.prompt_tokens_details.cached_tokens`
});

/** Chunk: the `data` of each event, of which the last is `[DONE]`. */
export const StreamEvent = z.strictObject({
  id: z.string(), // Chunk: `id`
  object: z.literal("chat.completion.chunk"), // Chunk: `object`
  created: z.int(), // Chunk: `created`, seconds
  model: z.string(), // Chunk: `model`
  choices: z
    .array(
      z.strictObject({
        index: z.literal(0), // Chunk: `choices[].index`
        delta: z.strictObject({
          role: z.literal("assistant").optional(), // Chunk: `choices[].delta.role`, in the first
          content: z.string().optional(), // Chunk: `choices[].delta.content`
          tool_calls: z
            .array(
              z.strictObject({
                index: z.int(), // Chunk: `tool_calls[].index`, which all pieces of a call have
                id: z.string().optional(), // Chunk: `tool_calls[].id`, in its first piece
                type: z.literal("function").optional(), // Chunk: `tool_calls[].type`
                function: z.strictObject({
                  name: z.string().optional(), // Chunk: `tool_calls[].function.name`, in its first piece
                  arguments: z.string(), // Chunk: `tool_calls[].function.arguments`, a piece
                }),
              }),
            )
            .optional(), // Chunk: `choices[].delta.tool_calls`
        }),
        finish_reason: z.enum(["stop", "length", "tool_calls", "content_filter"]).nullable(), // Chunk: `choices[].finish_reason`
      }),
    )
    .max(1), // Chunk: `choices`, empty with the usage
  usage: Usage.optional(), // Chunk: `usage`, in the last; Mistral: with the end
  x_groq: z.strictObject({ id: z.string(), usage: Usage }).optional(), // Groq: `x_groq.usage`, in the last
});

/** Errors of OpenAI, Groq, xAI, DeepSeek and OpenRouter, and of vLLM. */
const NestedRefusal = z.strictObject({
  error: z.strictObject({
    message: z.string(), // Errors: `error.message`
    type: z.string(), // Errors: `error.type`
    param: z.string().nullable(), // Errors: `error.param`
    code: z.union([z.string(), z.int()]).nullable(), // Errors: `error.code`; vLLM: a number
  }),
});
const MistralRefusal = z.strictObject({
  object: z.literal("error"), // Mistral: `object`
  message: z.string(), // Mistral: `message`
  type: z.string(), // Mistral: `type`
  param: z.string().nullable(), // Mistral: `param`
  code: z.string().nullable(), // Mistral: `code`
});
export const Refusal = z.union([NestedRefusal, MistralRefusal]);
