/**
 * What Google documents of Gemini's `streamGenerateContent`, as far as Parley uses it, as shapes that refuse anything
 * else. The fake vendor checks requests against them and answers in them; a test compares both with what is really sent.
 *
 * "Content" below: Gemini API reference, Generating content. "Caching": Caching. "Functions": Function calling. "Audio":
 * Audio understanding. "Errors": AIP-193 and Troubleshooting. "Auth": All methods, Authentication.
 */

import { z } from "zod";

const Part = z.union([
  z.strictObject({ text: z.string().min(1) }), // Caching, Part: `text`
  z.strictObject({
    functionCall: z.strictObject({
      id: z.string().optional(), // Caching, FunctionCall: `id`
      name: z.string(), // Caching, FunctionCall: `name`
      args: z.record(z.string(), z.unknown()), // Caching, FunctionCall: `args`, an object
    }),
    thoughtSignature: z.string().optional(), // Caching, Part: `thoughtSignature`
  }),
  z.strictObject({
    functionResponse: z.strictObject({
      id: z.string().optional(), // Caching, FunctionResponse: `id`
      name: z.string(), // Caching, FunctionResponse: `name`
      response: z.record(z.string(), z.unknown()), // Caching, FunctionResponse: `response`, an object
    }),
  }),
  z.strictObject({
    inlineData: z.strictObject({
      mimeType: z.literal("audio/wav"), // Audio, Supported audio formats: WAV
      data: z.base64(), // Caching, Blob: `data`
    }),
  }),
]);

/** Content, Request body. */
export const Request = z.strictObject({
  contents: z
    .array(
      z.strictObject({
        role: z.enum(["user", "model"]), // Caching, Content: `role`
        parts: z.array(Part).min(1), // Caching, Content: `parts`
      }),
    )
    .min(1), // Content: `contents`, required
  systemInstruction: z
    .strictObject({ parts: z.array(z.strictObject({ text: z.string().min(1) })) })
    .optional(), // Content: `systemInstruction`, text only
  generationConfig: z.strictObject({ temperature: z.number().min(0).max(2).optional() }).optional(), // Content, GenerationConfig: `temperature`, 0 to 2
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: z.string(), // Caching, FunctionDeclaration: `name`
            description: z.string(), // Caching, FunctionDeclaration: `description`, required
            parameters: z.looseObject({}).optional(), // Caching, FunctionDeclaration: `parameters`
            parametersJsonSchema: z.looseObject({}).optional(), // Caching, FunctionDeclaration: `parametersJsonSchema`
          }),
        ),
      }),
    )
    .optional(), // Content: `tools`
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({ mode: z.enum(["AUTO", "VALIDATED"]) }), // Caching, FunctionCallingConfig: `mode`
    })
    .optional(), // Content: `toolConfig`
});
export type Request = z.output<typeof Request>;

const Usage = z.strictObject({
  promptTokenCount: z.int(), // Content, UsageMetadata: those of the cache included
  candidatesTokenCount: z.int().optional(), // Content, UsageMetadata
  totalTokenCount: z.int(), // Content, UsageMetadata
  cachedContentTokenCount: z.int().optional(), // Content, UsageMetadata
  thoughtsTokenCount: z.int().optional(), // Content, UsageMetadata: of models that think
});

/** Content, GenerateContentResponse: the `data` of each event with `alt=sse`. */
export const StreamEvent = z.strictObject({
  candidates: z
    .array(
      z.strictObject({
        content: z.strictObject({
          parts: z.array(
            z.union([
              z.strictObject({ text: z.string(), thoughtSignature: z.string().optional() }), // Caching, Part: `text`
              z.strictObject({
                functionCall: z.strictObject({
                  id: z.string().optional(), // Caching, FunctionCall: `id`
                  name: z.string(), // Caching, FunctionCall: `name`
                  args: z.record(z.string(), z.unknown()), // Caching, FunctionCall: `args`, whole
                }),
                thoughtSignature: z.string().optional(), // Caching, Part: `thoughtSignature`
              }),
            ]),
          ),
          role: z.literal("model"), // Caching, Content: `role`
        }),
        finishReason: z
          .enum(["STOP", "MAX_TOKENS", "SAFETY", "RECITATION", "MALFORMED_FUNCTION_CALL", "OTHER"])
          .optional(), // Content, FinishReason: with the last event
        index: z.int(), // Content, Candidate: `index`
      }),
    )
    .min(1), // Content: `candidates`
  usageMetadata: Usage, // Content: `usageMetadata`
  modelVersion: z.string(), // Content: `modelVersion`
  responseId: z.string().optional(), // Content: `responseId`
});

/** Errors: a wrong key is `INVALID_ARGUMENT` with the reason `API_KEY_INVALID`. */
export const Refusal = z.strictObject({
  error: z.strictObject({
    code: z.int(), // Errors: the status of HTTP
    message: z.string(), // Errors: `message`
    status: z.string(), // Errors: the name of the code
    details: z.array(z.looseObject({ "@type": z.string(), reason: z.string().optional() })).optional(), // Errors: `details`, ErrorInfo
  }),
});
