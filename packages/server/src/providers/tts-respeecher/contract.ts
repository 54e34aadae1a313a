/**
 * The messages of Respeecher's speech websocket at `/v1/public/tts/{model}/tts/websocket`. Each comment names the place
 * in Respeecher's public documentation (space.respeecher.com/docs).
 */

import { z } from "zod";

/** Generations of an account at a time: "Rate limits". */
export const RESPEECHER_GENERATIONS = 5;
/** Longest text of a generation, about two minutes of audio: "Rate limits". */
export const RESPEECHER_MAX_TEXT_CHARS = 5_000;
/** Life of a socket: "WebSocket", connection. */
export const RESPEECHER_SOCKET_MS = 12 * 3_600_000;
/** "Output format": the default of `sample_rate` is 22050; others are free within this. */
export const RESPEECHER_LOWEST_RATE_HZ = 8_000;
export const RESPEECHER_HIGHEST_RATE_HZ = 48_000;

const contextId = z.string().min(1).max(64);

/** "Sampling parameters": unset ones are those of the voice. */
const SamplingParams = z.strictObject({
  seed: z.int().optional(), // "Sampling parameters": `seed`
  temperature: z.number().min(0).optional(), // "Sampling parameters": `temperature`
  /** -1: off. */
  top_k: z
    .int()
    .min(-1)
    .refine((value) => value !== 0)
    .optional(),
  top_p: z.number().gt(0).max(1).optional(), // "Sampling parameters": `top_p`
  min_p: z.number().min(0).max(1).optional(), // "Sampling parameters": `min_p`
  presence_penalty: z.number().min(0).max(2).optional(), // "Sampling parameters": `presence_penalty`
  repetition_penalty: z.number().min(1).max(2).optional(), // "Sampling parameters": `repetition_penalty`
  frequency_penalty: z.number().min(0).max(2).optional(), // "Sampling parameters": `frequency_penalty`
});
export type RespeecherSampling = z.output<typeof SamplingParams>;

const Generation = z.strictObject({
  /** "WebSocket", contexts: chosen by the client. */
  context_id: contextId,
  transcript: z.string().max(RESPEECHER_MAX_TEXT_CHARS), // "WebSocket", generation: `transcript`
  /** "WebSocket", continuations: whether more text follows in this context. */
  continue: z.boolean(),
  /** "Voices". */
  voice: z.strictObject({ id: z.string().min(1), sampling_params: SamplingParams.optional() }),
  /** "Output format". */
  output_format: z.strictObject({
    encoding: z.enum(["pcm_s16le", "pcm_f32le", "pcm_mulaw"]), // "WebSocket", generation: `encoding`
    sample_rate: z.int().min(RESPEECHER_LOWEST_RATE_HZ).max(RESPEECHER_HIGHEST_RATE_HZ), // "WebSocket", generation: `sample_rate`
  }),
});
export type RespeecherGeneration = z.output<typeof Generation>;

/** "WebSocket", requests. */
export const RespeecherClientMessage = z.union([
  Generation,
  /** "WebSocket", cancellation. */
  z.strictObject({ context_id: contextId, cancel: z.literal(true) }),
]);
export type RespeecherClientMessage = z.output<typeof RespeecherClientMessage>;

/** "WebSocket", responses. Fields that are not listed are ignored. */
export const RespeecherServerMessage = z.discriminatedUnion("type", [
  /** `data`: base64. */
  z.object({ type: z.literal("chunk"), context_id: z.string(), data: z.string() }),
  z.object({ type: z.literal("done"), context_id: z.string() }),
  /** Without a context it is about the connection. */
  z.object({
    type: z.literal("error"), // "WebSocket", error: `type`
    context_id: z.string().nullish(), // "WebSocket", error: `context_id`
    error: z.string(), // "WebSocket", error: `error`
    status_code: z.int().optional(), // "WebSocket", error: `status_code`
  }),
]);
export type RespeecherServerMessage = z.output<typeof RespeecherServerMessage>;

/** Values of `type` that are understood. Messages of other types are ignored, because Respeecher may add some. */
export const RESPEECHER_SERVER_TYPES: readonly string[] = ["chunk", "done", "error"];
