/**
 * What ElevenLabs documents of its multi-context websocket, as shapes that refuse anything else. The adapter builds its
 * messages in these types; the fake vendor checks what comes against them and answers in them.
 *
 * "Multi" below: ElevenLabs API reference, Text to Speech, Multi-Context WebSocket
 * (`/v1/text-to-speech/{voice_id}/multi-stream-input`). "Guide": ElevenLabs documentation, Multi-Context WebSocket guide.
 * "Dialogue": API reference, Text to Dialogue, Multi-Context WebSocket (`/v1/text-to-dialogue/multi-stream-input`), and the
 * guide Realtime Text to Dialogue. Those pages could not be read; the shapes are those that several public clients send.
 */

import { z } from "zod";

/** Multi, Query parameters `output_format`; Guide to output formats: PCM is 16-bit little-endian without a header. */
export const OUTPUT_FORMATS = [
  "pcm_8000",
  "pcm_16000",
  "pcm_22050",
  "pcm_24000",
  "pcm_44100",
  "ulaw_8000",
] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const flag = z.enum(["true", "false"]);

/** Multi, Query parameters. */
export const Query = z.strictObject({
  model_id: z.string().min(1), // Multi, Query parameters: `model_id`
  output_format: z.enum(OUTPUT_FORMATS), // Multi, Query parameters: `output_format`
  language_code: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(), // Multi, Query parameters: `language_code`, ISO 639-1
  enable_logging: flag.optional(), // Multi, Query parameters: `enable_logging`
  enable_ssml_parsing: flag.optional(), // Multi, Query parameters: `enable_ssml_parsing`
  inactivity_timeout: z.coerce.number().int().min(1).max(180).optional(), // Multi: `inactivity_timeout`, at most 180 s
  sync_alignment: flag.optional(), // Multi, Query parameters: `sync_alignment`
  auto_mode: flag.optional(), // Multi, Query parameters: `auto_mode`
  apply_text_normalization: z.enum(["auto", "on", "off"]).optional(), // Multi: `apply_text_normalization`
  seed: z.coerce.number().int().min(0).max(4_294_967_295).optional(), // Multi, Query parameters: `seed`
  optimize_streaming_latency: z.coerce.number().int().min(0).max(4).optional(), // Create speech: deprecated, 0 to 4
});

/** Multi, Send, `voice_settings`; ranges: API reference, Voices, Edit voice settings. */
export const VoiceSettings = z.strictObject({
  stability: z.number().min(0).max(1).optional(), // Voice settings: `stability`, 0 to 1
  similarity_boost: z.number().min(0).max(1).optional(), // Voice settings: `similarity_boost`, 0 to 1
  style: z.number().min(0).max(1).optional(), // Voice settings: `style`, 0 to 1
  use_speaker_boost: z.boolean().optional(), // Voice settings: `use_speaker_boost`
  speed: z.number().min(0.7).max(1.2).optional(), // Voice settings: `speed`, 0.7 to 1.2
});
export type VoiceSettings = z.output<typeof VoiceSettings>;

/** Multi, Send, `pronunciation_dictionary_locators`: at most 3 (Create speech). */
const Locators = z
  .array(
    z.strictObject({
      pronunciation_dictionary_id: z.string().min(1), // Multi: `pronunciation_dictionary_id`
      version_id: z.string().min(1).optional(), // Multi: `version_id`
    }),
  )
  .max(3);

const contextId = z.string().min(1);

/** Multi, Send: `initialiseContext`. Settings are allowed in this first message of a context only (Guide). */
export const InitialiseContext = z.strictObject({
  text: z.string().min(1), // Multi, initialiseContext: `text`
  context_id: contextId, // Multi, initialiseContext: `context_id`
  voice_settings: VoiceSettings.optional(), // Multi, initialiseContext: `voice_settings`
  generation_config: z
    .strictObject({ chunk_length_schedule: z.array(z.number().int().min(50).max(500)) })
    .optional(), // Multi, initialiseContext: `generation_config`
  pronunciation_dictionary_locators: Locators.optional(), // Multi, initialiseContext
});
export type InitialiseContext = z.output<typeof InitialiseContext>;

/** Multi, Send: `sendTextMulti`. */
export const SendText = z.strictObject({
  text: z.string().min(1), // Multi, sendTextMulti: `text`
  context_id: contextId, // Multi, sendTextMulti: `context_id`
  flush: z.boolean().optional(), // Multi, sendTextMulti: `flush`
});
export type SendText = z.output<typeof SendText>;

/** Multi, Send: `closeContextClient`. What is flushed already is still sent. */
export const CloseContext = z.strictObject({
  context_id: contextId, // Multi, closeContextClient: `context_id`
  close_context: z.literal(true), // Multi, closeContextClient: `close_context`
});
export type CloseContext = z.output<typeof CloseContext>;

/** Multi, Send: `flushContextClient`. */
export const FlushContext = z.strictObject({
  context_id: contextId, // Multi, flushContextClient: `context_id`
  flush: z.literal(true), // Multi, flushContextClient: `flush`
  text: z.string().optional(), // Multi, flushContextClient: `text`
});

/** Multi, Send: `keepContextAlive`. */
export const KeepContextAlive = z.strictObject({
  text: z.literal(""), // Multi, keepContextAlive: `text`
  context_id: contextId, // Multi, keepContextAlive: `context_id`
});

/** Multi, Send: `closeSocketClient`. */
export const CloseSocket = z.strictObject({ close_socket: z.literal(true) });

/** Dialogue, Query parameters. The voice is no part of the address. */
export const DialogueQuery = z.strictObject({
  model_id: z.string().regex(/^eleven_v[34]/), // Dialogue, Query parameters: `model_id`, v3 and v4 only
  output_format: z.enum(OUTPUT_FORMATS), // Dialogue, Query parameters: `output_format`
  language_code: z
    .string()
    .regex(/^[a-z]{2,3}$/)
    .optional(), // Dialogue, Query parameters: `language_code`, ISO 639-1
  sync_alignment: flag.optional(), // Dialogue, Query parameters: `sync_alignment`
});

/** Dialogue, Send: the first message of a context registers its voices. */
export const InitialiseDialogue = z.strictObject({
  context_id: contextId, // Dialogue: `context_id`
  voices: z.array(z.string().min(1)).length(1), // Dialogue: `voices`; `eleven_v4_turbo` takes exactly one
  voice_settings: z.strictObject({ stability: z.number().min(0).max(1) }).optional(), // Dialogue: `voice_settings`
  pronunciation_dictionary_locators: Locators.optional(), // Dialogue: `pronunciation_dictionary_locators`
});
export type InitialiseDialogue = z.output<typeof InitialiseDialogue>;

/** Dialogue, Send: text. */
export const SendInputs = z.strictObject({
  context_id: contextId, // Dialogue: `context_id`
  inputs: z
    .array(
      z.strictObject({
        text: z.string().min(1), // Dialogue, inputs: `text`
        voice_id: z.string().min(1), // Dialogue, inputs: `voice_id`, one of `voices`
        new_turn: z.boolean().optional(), // Dialogue, inputs: `new_turn`
      }),
    )
    .min(1),
});
export type SendInputs = z.output<typeof SendInputs>;

/** Dialogue, Send: speaks what waits. */
export const FlushDialogue = z.strictObject({ context_id: contextId, flush: z.literal(true) });
export type FlushDialogue = z.output<typeof FlushDialogue>;

/** Multi, Receive: `alignment` and `normalizedAlignment`. Times are from the beginning of the chunk. */
const Alignment = z.strictObject({
  chars: z.array(z.string()), // Multi, audioOutputMulti: `chars`
  charStartTimesMs: z.array(z.number()), // Multi, audioOutputMulti: `charStartTimesMs`
  charDurationsMs: z.array(z.number()), // Multi, audioOutputMulti: `charDurationsMs`
});

/** Multi, Receive: `audioOutputMulti`. */
export const AudioOutput = z.strictObject({
  audio: z.string(), // Multi, audioOutputMulti: `audio`, base64
  normalizedAlignment: Alignment.nullish(), // Multi, audioOutputMulti: `normalizedAlignment`
  alignment: Alignment.nullish(), // Multi, audioOutputMulti: `alignment`
  contextId: z.string().optional(), // Multi, audioOutputMulti: `contextId`
});
export type AudioOutput = z.output<typeof AudioOutput>;

/** Multi, Receive: `finalOutputMulti`. */
export const FinalOutput = z.strictObject({
  isFinal: z.literal(true), // Multi, finalOutputMulti: `isFinal`
  contextId: z.string().optional(), // Multi, finalOutputMulti: `contextId`
});
export type FinalOutput = z.output<typeof FinalOutput>;

/** Guide, Handling errors; API reference, Errors: the words of `error` are those of `detail.status`. */
export const SocketError = z.strictObject({
  error: z.string(), // Errors: `status`
  message: z.string(), // Errors: `message`
  code: z.number().int(), // The code of the close that follows
  contextId: z.string().optional(), // Guide, Handling errors
});
export type SocketError = z.output<typeof SocketError>;

/** API reference, Errors: the body of a refused request. */
export const HttpError = z.strictObject({
  detail: z.strictObject({ status: z.string(), message: z.string() }), // Errors: `detail`
});
