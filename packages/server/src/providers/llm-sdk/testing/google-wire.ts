/** Gemini's `streamGenerateContent`: https://ai.google.dev/api/generate-content */

import { z } from "zod";
import { Refusal, Request, StreamEvent } from "../contracts/google-generate-content.ts";
import { checkedEvents, eventDocuments, events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

export const googleWire: VendorWire = {
  contentType: "text/event-stream",
  problemOf(request) {
    const path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    const head = headProblem(request, { path, header: "x-goog-api-key", value: KEY });
    // A wrong key is a wrong argument here.
    if (head !== null) return head.status === 401 ? { ...head, status: 400 } : head;
    const body = Request.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data);
    return message === null ? null : { status: 400, message };
  },
  asked: (body) => JSON.stringify(Request.parse(body).contents.at(-1)?.parts),
  encode({ texts, toolCalls = [], inputTokens, cachedTokens, outputTokens }) {
    const usageMetadata = {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens,
      totalTokenCount: inputTokens + outputTokens,
      ...(cachedTokens === undefined ? {} : { cachedContentTokenCount: cachedTokens }),
    };
    const parts = [
      ...texts.map((text) => ({ text })),
      ...toolCalls.map(({ name, arguments: args }) => ({ functionCall: { name, args } })),
    ];
    return events(
      checkedEvents(StreamEvent, [
        ...parts.map((part) => ({
          candidates: [{ content: { parts: [part], role: "model" }, index: 0 }],
          usageMetadata: { promptTokenCount: inputTokens, totalTokenCount: inputTokens },
          modelVersion: "gemini-2.5-flash",
        })),
        {
          candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: "STOP", index: 0 }],
          usageMetadata,
          modelVersion: "gemini-2.5-flash",
        },
      ]),
      "\r\n",
    );
  },
  documents: (unit) => eventDocuments(StreamEvent, unit),
  refusal: ({ status, message }) =>
    JSON.stringify(
      Refusal.parse({
        error: {
          code: status,
          message,
          status: status === 400 ? "INVALID_ARGUMENT" : "UNKNOWN",
          ...(message === "the key is wrong"
            ? {
                details: [{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" }],
              }
            : {}),
        },
      }),
    ),
};

function orderProblem({ contents }: Request): string | null {
  if (contents[0]?.role !== "user") return "the first content must be of the user";
  for (const [index, { role, parts }] of contents.entries()) {
    const calls = parts.filter((part) => "functionCall" in part).length;
    if (calls > 0 && (index === 0 || contents[index - 1]?.role === "model"))
      return "a function call turn must come immediately after a user turn or after a function response turn";
    const next = contents[index + 1]?.parts ?? [];
    const responses = next.filter((part) => "functionResponse" in part).length;
    if (calls !== responses)
      return "the number of function response parts must equal that of the function call parts";
    if (role === "model" && contents[index + 1]?.role === "model") return "turns must alternate";
  }
  return contents.at(-1)?.role === "user" ? null : "the last content must be of the user";
}
