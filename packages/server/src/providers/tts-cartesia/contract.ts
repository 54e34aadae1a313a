/**
 * What Cartesia documents of its websocket for speech, as shapes that refuse anything else. The adapter builds its
 * messages in these types; the fake vendor checks what comes against them and answers in them.
 *
 * "WebSocket" below: Cartesia API reference, Text to Speech (WebSocket), version 2025-11-04. "2024-11-13": the same page
 * of that version. "Errors": Cartesia documentation, API Errors. "Volume": Volume, Speed, and Emotion.
 */

import { z } from "zod";

/** API reference, `Cartesia-Version`. The older one has the legacy controls of a voice. */
export const VERSIONS = { current: "2025-11-04", legacy: "2024-11-13" } as const;

/** WebSocket, Send, `output_format`: `raw` is the only container of the socket. */
export const OutputFormat = z.strictObject({
  container: z.literal("raw"), // WebSocket: `output_format.container`
  encoding: z.enum(["pcm_s16le", "pcm_f32le", "pcm_mulaw", "pcm_alaw"]), // WebSocket: `output_format.encoding`
  sample_rate: z.union([
    z.literal(8_000),
    z.literal(16_000),
    z.literal(22_050),
    z.literal(24_000),
    z.literal(44_100),
    z.literal(48_000),
  ]), // WebSocket: `output_format.sample_rate`
});
export type OutputFormat = z.output<typeof OutputFormat>;
export type SampleRate = OutputFormat["sample_rate"];

/** Volume: ranges of `generation_config`; sonic-3 and later. */
export const GenerationConfig = z.strictObject({
  speed: z.number().min(0.6).max(1.5).optional(), // Volume: `speed`, 0.6 to 1.5
  volume: z.number().min(0.5).max(2).optional(), // Volume: `volume`, 0.5 to 2.0
  emotion: z
    .string()
    .regex(/^[a-z][a-z/ -]*$/)
    .optional(), // Volume: `emotion`, one word of the list
});
export type GenerationConfig = z.output<typeof GenerationConfig>;

/** 2024-11-13, `voice.__experimental_controls`; models before sonic-3. */
export const LegacyControls = z.strictObject({
  speed: z.number().min(-1).max(1).optional(), // 2024-11-13: `speed`, -1 to 1
  emotion: z
    .array(
      z.string().regex(/^(?:anger|positivity|surprise|sadness|curiosity)(?::(?:lowest|low|high|highest))?$/),
    )
    .optional(), // 2024-11-13: `emotion`, `name` or `name:level`
});
export type LegacyControls = z.output<typeof LegacyControls>;

/** WebSocket, Send: a generation request. */
export const GenerationRequest = z.strictObject({
  context_id: z.string().min(1), // WebSocket: `context_id`
  model_id: z.string().min(1), // WebSocket: `model_id`
  transcript: z.string(), // WebSocket: `transcript`
  voice: z.strictObject({
    mode: z.literal("id"), // WebSocket: `voice.mode`
    id: z.string().min(1), // WebSocket: `voice.id`
    __experimental_controls: LegacyControls.optional(), // 2024-11-13: `voice.__experimental_controls`
  }),
  output_format: OutputFormat, // WebSocket: `output_format`
  language: z
    .string()
    .regex(/^[a-z]{2}$/)
    .optional(), // WebSocket: `language`, ISO 639-1
  continue: z.boolean().optional(), // WebSocket: `continue`
  flush: z.boolean().optional(), // WebSocket: `flush`
  add_timestamps: z.boolean().optional(), // WebSocket: `add_timestamps`
  add_phoneme_timestamps: z.boolean().optional(), // WebSocket: `add_phoneme_timestamps`
  use_normalized_timestamps: z.boolean().optional(), // WebSocket: `use_normalized_timestamps`
  max_buffer_delay_ms: z.number().int().min(0).max(5_000).optional(), // WebSocket: `max_buffer_delay_ms`
  generation_config: GenerationConfig.optional(), // WebSocket: `generation_config`
  pronunciation_dict_id: z.string().min(1).optional(), // WebSocket: `pronunciation_dict_id`
});
export type GenerationRequest = z.output<typeof GenerationRequest>;

/** WebSocket, Send: a cancel request. */
export const CancelRequest = z.strictObject({
  context_id: z.string().min(1), // WebSocket, Cancel: `context_id`
  cancel: z.literal(true), // WebSocket, Cancel: `cancel`
});
export type CancelRequest = z.output<typeof CancelRequest>;

/** WebSocket, Receive: `chunk`. */
export const Chunk = z.strictObject({
  type: z.literal("chunk"), // WebSocket, Receive
  context_id: z.string(), // WebSocket, Receive: `context_id`
  data: z.string(), // WebSocket, chunk: `data`, base64
  done: z.literal(false), // WebSocket, Receive: `done`
  status_code: z.number().int(), // WebSocket, Receive: `status_code`
  step_time: z.number(), // WebSocket, chunk: `step_time`
});
export type Chunk = z.output<typeof Chunk>;

/** WebSocket, Receive: `timestamps`. Seconds from the beginning of the context. */
export const Timestamps = z.strictObject({
  type: z.literal("timestamps"), // WebSocket, Receive
  context_id: z.string(), // WebSocket, Receive: `context_id`
  word_timestamps: z.strictObject({
    words: z.array(z.string()), // WebSocket, timestamps: `words`
    start: z.array(z.number()), // WebSocket, timestamps: `start`
    end: z.array(z.number()), // WebSocket, timestamps: `end`
  }),
  done: z.literal(false), // WebSocket, Receive: `done`
  status_code: z.number().int(), // WebSocket, Receive: `status_code`
});
export type Timestamps = z.output<typeof Timestamps>;

/** WebSocket, Receive: `done`. */
export const Done = z.strictObject({
  type: z.literal("done"), // WebSocket, Receive
  context_id: z.string(), // WebSocket, Receive: `context_id`
  done: z.literal(true), // WebSocket, Receive: `done`
  status_code: z.number().int(), // WebSocket, Receive: `status_code`
});
export type Done = z.output<typeof Done>;

/** Errors: WebSocket Error Event Object. */
export const ErrorEvent = z.strictObject({
  type: z.literal("error"), // Errors: `type`
  done: z.literal(true), // Errors: `done`
  status_code: z.number().int(), // Errors: `status_code`
  error_code: z.string().nullable(), // Errors: `error_code`, null where none applies
  title: z.string(), // Errors: `title`
  message: z.string(), // Errors: `message`
  request_id: z.string(), // Errors: `request_id`
  doc_url: z.string().optional(), // Errors: `doc_url`
  context_id: z.string().optional(), // Errors: `context_id`, where it is known
});
export type ErrorEvent = z.output<typeof ErrorEvent>;

/** Errors: HTTP Error Object. */
export const HttpError = ErrorEvent.pick({ error_code: true, title: true, message: true, request_id: true });
