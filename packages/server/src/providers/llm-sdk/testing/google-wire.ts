/** Gemini's `streamGenerateContent`: https://ai.google.dev/api/generate-content */

import { z } from "zod";
import { events, headProblem, KEY, type VendorWire } from "./vendor-wire.ts";

const Part = z.union([
  z.strictObject({ text: z.string().min(1) }),
  z.strictObject({
    functionCall: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()),
    }),
    thoughtSignature: z.string().optional(),
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      id: z.string().optional(),
      name: z.string(),
      response: z.record(z.string(), z.unknown()),
    }),
  }),
  z.strictObject({ inlineData: z.strictObject({ mimeType: z.literal("audio/wav"), data: z.base64() }) }),
]);
const Content = z.strictObject({ role: z.enum(["user", "model"]), parts: z.array(Part).min(1) });
const Body = z.strictObject({
  contents: z.array(Content).min(1),
  systemInstruction: z
    .strictObject({ parts: z.array(z.strictObject({ text: z.string().min(1) })) })
    .optional(),
  generationConfig: z.strictObject({ temperature: z.number().min(0).max(2).optional() }).optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: z.string(),
            description: z.string(),
            parameters: z.looseObject({}).optional(),
            parametersJsonSchema: z.looseObject({}).optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({ functionCallingConfig: z.strictObject({ mode: z.enum(["AUTO", "VALIDATED"]) }) })
    .optional(),
});
type Body = z.output<typeof Body>;

export const googleWire: VendorWire = {
  contentType: "text/event-stream",
  problemOf(request) {
    const path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse";
    const head = headProblem(request, { path, header: "x-goog-api-key", value: KEY });
    // A wrong key is a wrong argument here.
    if (head !== null) return head.status === 401 ? { ...head, status: 400 } : head;
    const body = Body.safeParse(JSON.parse(request.body));
    if (!body.success) return { status: 400, message: z.prettifyError(body.error) };
    const message = orderProblem(body.data);
    return message === null ? null : { status: 400, message };
  },
  asked: (body) => JSON.stringify(Body.parse(body).contents.at(-1)?.parts),
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
      [
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
      ],
      "\r\n",
    );
  },
  refusal: ({ status, message }) =>
    JSON.stringify({
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
};

function orderProblem({ contents }: Body): string | null {
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
