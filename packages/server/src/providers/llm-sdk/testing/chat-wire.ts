/** `POST …/chat/completions` of OpenAI, and of vendors that have copied it with rules of their own. */

import { z } from "zod";
import { parseWavHeader } from "../../../media/wav.ts";
import {
  COMMON_FIELDS,
  MISTRAL_CALL_ID,
  Refusal,
  Request,
  StreamEvent,
  type ChatRules,
} from "../contracts/chat-completions.ts";
import { halves } from "./anthropic-wire.ts";
import { checkedEvents, eventDocuments, events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

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
      const body = Request.safeParse(JSON.parse(request.body));
      if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
      const message =
        fieldProblem(body.data, rules) ?? orderProblem(body.data, rules) ?? audioProblem(body.data, rules);
      return message === null ? null : { status: 400, message };
    },
    asked: (body) => JSON.stringify(Request.parse(body).messages.at(-1)?.content),
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
      return events(
        checkedEvents(StreamEvent, [
          chunk({ role: "assistant", content: "" }),
          ...texts.map((content) => chunk({ content })),
          ...toolCalls.flatMap(({ id, name, arguments: given }, index) => {
            const [first = "", second = ""] = halves(JSON.stringify(given));
            // Mistral sends calls whole.
            if (rules.dialect === "mistral")
              return [chunk({ tool_calls: [{ id, index, function: { name, arguments: first + second } }] })];
            return [
              chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: first } }] }),
              chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
            ];
          }),
          ...endOf(end, usage, rules),
          "[DONE]",
        ]),
      );
    },
    documents: (unit) => eventDocuments(StreamEvent, unit),
    refusal: ({ status, message }) =>
      JSON.stringify(
        Refusal.parse(
          rules.dialect === "mistral"
            ? { object: "error", message, type: "invalid_request_error", param: null, code: String(status) }
            : { error: { message, type: "invalid_request_error", param: null, code: null } },
        ),
      ),
  };
}

function endOf(end: { readonly choices: unknown }, usage: object, rules: ChatRules): readonly object[] {
  if (rules.dialect === "groq") return [{ ...end, x_groq: { id: "req_1", usage } }];
  if (rules.dialect === "mistral") return [{ ...end, usage }];
  return [end, { ...end, choices: [], usage }];
}

function fieldProblem(body: Request, { fields }: ChatRules): string | null {
  const unknown = Object.keys(body).find(
    (name) => !COMMON_FIELDS.some((common) => common === name) && !fields.includes(name),
  );
  return unknown === undefined ? null : `Unrecognized request argument supplied: ${unknown}`;
}

function orderProblem({ messages }: Request, rules: ChatRules): string | null {
  for (const [index, message] of messages.entries()) {
    const before = messages[index - 1];
    const wrongId = rules.dialect === "mistral" ? wrongMistralId(message) : undefined;
    if (wrongId !== undefined)
      return `Tool call id was ${wrongId} but must be a-z, A-Z, 0-9, with a length of 9.`;
    if (message.role === "system" && index > 0) return "a system message must be the first";
    if (rules.dialect === "mistral" && before?.role === "tool" && message.role === "user")
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

function wrongMistralId(message: Request["messages"][number]): string | undefined {
  const ids = message.role === "tool" ? [message.tool_call_id] : [];
  const made = message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
  return [...ids, ...made].find((id) => !MISTRAL_CALL_ID.test(id));
}

function audioProblem({ messages }: Request, { hears }: ChatRules): string | null {
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
