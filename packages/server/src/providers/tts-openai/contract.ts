/**
 * What OpenAI documents of `POST /audio/speech`, as far as Parley uses it, as shapes that refuse anything else. The fake
 * speech server checks requests against them and answers in them. Servers that have copied the protocol take the same.
 *
 * "Speech" below: OpenAI API reference, Audio, Create speech. "Guide": Text to speech, Supported output formats.
 * "Errors": Error codes.
 */

import { z } from "zod";

/** Speech: path after the base address, which ends with the version. */
export const PATH = "/v1/audio/speech";

/** Speech: body. */
export const SpeechRequest = z.strictObject({
  model: z.string().min(1), // Speech: `model`
  input: z.string().min(1).max(4_096), // Speech: `input`, at most 4,096 characters
  voice: z.string().min(1), // Speech: `voice`
  response_format: z.literal("pcm"), // Speech: `response_format`; Parley asks for samples only
  speed: z.number().min(0.25).max(4).optional(), // Speech: `speed`
  instructions: z.string().optional(), // Speech: `instructions`
});
export type SpeechRequest = z.output<typeof SpeechRequest>;

/** Guide: `pcm` is 24 kHz, 16-bit signed, little-endian, without a header. */
export const PCM = { contentType: "audio/pcm", sampleRateHz: 24_000 } as const;

/** Errors: body of an answer that is no success. */
export const Refusal = z.strictObject({
  error: z.strictObject({
    message: z.string(), // Errors: `error.message`
    type: z.string(), // Errors: `error.type`
    param: z.string().nullable(), // Errors: `error.param`
    code: z.string().nullable(), // Errors: `error.code`
  }),
});
export type Refusal = z.output<typeof Refusal>;
