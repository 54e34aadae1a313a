/** `POST …/chat/completions` of OpenAI, and of vendors that have copied it with rules of their own. */

import { z } from "zod";
import { parseWavHeader } from "../../../media/wav.ts";
import { halves } from "./anthropic-wire.ts";
import { events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

export interface ChatRules {
  /** With the query, such as `/v1/chat/completions`. */
  readonly path: string;
  /** Top-level fields besides those that all have. */
  readonly fields: readonly string[];
  /** Of Mistral: no message of the user directly after a result. */
  readonly answersResults?: true;
  /** Whether `input_audio` is accepted. */
  readonly hears?: true;
  /** Groq counts in a field of its own. */
  readonly usageField?: "x_groq";
}

const COMMON = ["model", "messages", "stream", "temperature", "tools", "tool_choice"];

const ToolCalls = z.array(
  z.strictObject({
    id: z.string(),
    type: z.literal("function"),
    function: z.strictObject({ name: z.string(), arguments: z.string() }),
  }),
);
const UserPart = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("input_audio"),
    input_audio: z.strictObject({ data: z.base64(), format: z.literal("wav") }),
  }),
]);
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string().min(1) }),
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(UserPart).min(1)]) }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string().nullish(),
    tool_calls: ToolCalls.optional(),
    // Of Mistral.
    prefix: z.literal(true).optional(),
  }),
  z.strictObject({
    role: z.literal("tool"),
    tool_call_id: z.string(),
    name: z.string().optional(),
    content: z.string(),
  }),
]);
const Body = z.looseObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.literal(true),
  temperature: z.number().min(0).max(1.5).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string().regex(/^[\w-]{1,64}$/),
          description: z.string().optional(),
          parameters: z.looseObject({}),
          strict: z.boolean().optional(),
        }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.enum(["auto", "none"]).optional(),
});
type Body = z.output<typeof Body>;

export function chatWire(rules: ChatRules): VendorWire {
  return {
    contentType: "text/event-stream; charset=utf-8",
    problemOf(request) {
      const head = headProblem(request, {
        path: rules.path,
        header: "authorization",
        value: `Bearer ${KEY}`,
      });
      if (head !== null) return head;
      const body = Body.safeParse(JSON.parse(request.body));
      if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
      const message =
        fieldProblem(body.data, rules) ?? orderProblem(body.data, rules) ?? audioProblem(body.data, rules);
      return message === null ? null : { status: 400, message };
    },
    asked: (body) => JSON.stringify(Body.parse(body).messages.at(-1)?.content),
    encode({ texts, toolCalls = [], inputTokens, cachedTokens, outputTokens }) {
      const head = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: "m" };
      const chunk = (delta: object, finish_reason: string | null = null) => ({
        ...head,
        choices: [{ index: 0, delta, finish_reason }],
      });
      const usage = {
        prompt_tokens: inputTokens,
        completion_tokens: outputTokens,
        total_tokens: inputTokens + outputTokens,
        ...(cachedTokens === undefined ? {} : { prompt_tokens_details: { cached_tokens: cachedTokens } }),
      };
      const end = chunk({}, toolCalls.length === 0 ? "stop" : "tool_calls");
      return events([
        chunk({ role: "assistant", content: "" }),
        ...texts.map((content) => chunk({ content })),
        ...toolCalls.flatMap(({ id, name, arguments: given }, index) => {
          const [first = "", second = ""] = halves(JSON.stringify(given));
          // Mistral sends calls whole.
          if (rules.answersResults === true)
            return [chunk({ tool_calls: [{ id, index, function: { name, arguments: first + second } }] })];
          return [
            chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: first } }] }),
            chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
          ];
        }),
        ...endOf(end, usage, rules),
        "[DONE]",
      ]);
    },
    refusal: ({ status, message }) =>
      JSON.stringify(
        rules.answersResults === true
          ? { object: "error", message, type: "invalid_request_error", param: null, code: String(status) }
          : { error: { message, type: "invalid_request_error", param: null, code: null } },
      ),
  };
}

function endOf(end: { readonly choices: unknown }, usage: object, rules: ChatRules): readonly object[] {
  if (rules.usageField === "x_groq") return [{ ...end, x_groq: { id: "req_1", usage } }];
  if (rules.answersResults === true) return [{ ...end, usage }];
  return [end, { ...end, choices: [], usage }];
}

function fieldProblem(body: Body, { fields }: ChatRules): string | null {
  const unknown = Object.keys(body).find((name) => !COMMON.includes(name) && !fields.includes(name));
  return unknown === undefined ? null : `Unrecognized request argument supplied: ${unknown}`;
}

function orderProblem({ messages }: Body, rules: ChatRules): string | null {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    if (message.role === "system" && index > 0) return "a system message must be the first";
    if (rules.answersResults === true && before?.role === "tool" && message.role === "user")
      return "Unexpected role 'user' after role 'tool'";
    if (message.role === "assistant" && message.tool_calls !== undefined) {
      const ids = message.tool_calls.map(({ id }) => id);
      const next = messages.slice(index + 1, index + 1 + ids.length);
      const answered = next.flatMap((result) => (result.role === "tool" ? [result.tool_call_id] : []));
      if (ids.toSorted().join() !== answered.toSorted().join())
        return "tool_calls must be followed by tool messages responding to each tool_call_id";
    }
  }
  const last = messages.at(-1)?.role;
  return last === "user" || last === "tool" ? null : "Expected last role User or Tool";
}

function audioProblem({ messages }: Body, { hears }: ChatRules): string | null {
  for (const message of messages) {
    if (message.role !== "user" || typeof message.content === "string") continue;
    for (const part of message.content) {
      if (part.type !== "input_audio") continue;
      if (hears !== true) return "this model does not support audio";
      const wav = parseWavHeader(Buffer.from(part.input_audio.data, "base64"));
      if (wav === null) return "the audio is no WAV file";
    }
  }
  return null;
}
