/**
 * What OpenAI documents of `POST /audio/transcriptions`, as far as Parley uses it, as shapes that refuse anything else.
 * The fake server checks forms against them and answers in them. Servers that have copied the protocol take the same.
 *
 * "Transcription" below: OpenAI API reference, Audio, Create transcription. "Object": The transcription object (JSON).
 * "Errors": Error codes.
 */

import { z } from "zod";

/** Transcription: path after the base address, which ends with the version. */
export const PATH = "/v1/audio/transcriptions";
/** Transcription: files of at most 25 MB. */
export const MAX_FILE_BYTES = 25 * 1_024 * 1_024;

/** Transcription: fields of the form (multipart/form-data). */
export const TranscriptionForm = z.strictObject({
  file: z.strictObject({
    name: z.string().regex(/\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/), // Transcription: `file`, by its ending
    type: z.string().min(1), // Transcription: `file`
    bytes: z.instanceof(Uint8Array).refine(({ length }) => length > 44 && length <= MAX_FILE_BYTES), // Transcription: `file`
  }),
  model: z.string().min(1), // Transcription: `model`
  response_format: z.literal("json"), // Transcription: `response_format`
  language: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(), // Transcription: `language`, ISO 639-1
  prompt: z.string().optional(), // Transcription: `prompt`
  temperature: z.string().optional(), // Transcription: `temperature`
});
export type TranscriptionForm = z.output<typeof TranscriptionForm>;

/** Object: with `response_format` json. */
export const TranscriptionAnswer = z.strictObject({
  text: z.string(), // Object: `text`
  usage: z.looseObject({ type: z.enum(["tokens", "duration"]) }).optional(), // Object: `usage`
});

/** Errors: body of an answer that is no success. */
export const Refusal = z.strictObject({
  error: z.strictObject({
    message: z.string(), // Errors: `error.message`
    type: z.string(), // Errors: `error.type`
    param: z.string().nullable(), // Errors: `error.param`
    code: z.string().nullable(), // Errors: `error.code`
  }),
});
