/**
 * What Parley and a realtime transcription server say to each other, as OpenAI documents it. Strict: the fake of the
 * tests refuses what is not here. The adapter itself reads answers by `messages.ts`, which ignores what it does not
 * need.
 */

import { z } from "zod";
import { SETTINGS } from "./messages.ts";

/** "Realtime transcription": the address `/v1/realtime?intent=transcription`, with the key as a bearer token. */
export const RealtimeQuery = z.strictObject({ intent: z.literal("transcription") });

const eventId = z.string().min(1).max(512);

/** API reference "Realtime", client events. */
export const ClientEvent = z.discriminatedUnion("type", [
  // "session.update" with a transcription session.
  z.strictObject({
    type: z.literal("session.update"), // Realtime, session.update: `type`
    event_id: eventId,
    [SETTINGS]: z.strictObject({
      type: z.literal("transcription"), // Realtime, session.update: `type`
      audio: z.strictObject({
        input: z.strictObject({
          // "audio/pcm": 16-bit little-endian mono at 24 kHz, the only rate.
          format: z.strictObject({ type: z.literal("audio/pcm"), rate: z.literal(24_000) }),
          transcription: z.strictObject({
            model: z.string().min(1), // Realtime, session.update: `model`
            // ISO 639-1.
            language: z
              .string()
              .regex(/^[a-z]{2,3}$/)
              .optional(),
            // Words that are likely, as a text.
            prompt: z.string().min(1).max(2_000).optional(),
          }),
          // null: the client commits.
          turn_detection: z.null(),
        }),
      }),
    }),
  }),
  // "input_audio_buffer.append": base64, at most 15 MiB.
  z.strictObject({
    type: z.literal("input_audio_buffer.append"), // Realtime, input_audio_buffer.append: `type`
    audio: z.base64().max(15 * 1_024 * 1_024), // Realtime, input_audio_buffer.append: `audio`
  }),
  // "input_audio_buffer.commit": makes a message item of the buffer; an error where it has less than 100 ms.
  z.strictObject({ type: z.literal("input_audio_buffer.commit"), event_id: eventId }),
  // "input_audio_buffer.clear".
  z.strictObject({ type: z.literal("input_audio_buffer.clear") }),
]);
export type ClientEvent = z.infer<typeof ClientEvent>;

/** API reference "Realtime", server events. */
export const ServerEvent = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("session.created"), event_id: eventId, [SETTINGS]: z.looseObject({}) }),
  z.strictObject({ type: z.literal("session.updated"), event_id: eventId, [SETTINGS]: z.looseObject({}) }),
  z.strictObject({
    type: z.literal("input_audio_buffer.committed"), // Realtime, input_audio_buffer.committed: `type`
    event_id: eventId,
    item_id: z.string(), // Realtime, input_audio_buffer.committed: `item_id`
    previous_item_id: z.string().nullable(), // Realtime, input_audio_buffer.committed: `previous_item_id`
  }),
  z.strictObject({ type: z.literal("input_audio_buffer.cleared"), event_id: eventId }),
  z.strictObject({
    type: z.literal("conversation.item.input_audio_transcription.delta"), // Realtime, transcription delta: `type`
    event_id: eventId,
    item_id: z.string(), // Realtime, transcription delta: `item_id`
    content_index: z.number(), // Realtime, transcription delta: `content_index`
    delta: z.string(), // Realtime, transcription delta: `delta`
  }),
  // "Handling transcriptions": the order of items is not that of these events.
  z.strictObject({
    type: z.literal("conversation.item.input_audio_transcription.completed"), // Realtime, transcription completed: `type`
    event_id: eventId,
    item_id: z.string(), // Realtime, transcription completed: `item_id`
    content_index: z.number(), // Realtime, transcription completed: `content_index`
    transcript: z.string(), // Realtime, transcription completed: `transcript`
    usage: z.looseObject({}).optional(), // Realtime, transcription completed: `usage`
  }),
  z.strictObject({
    type: z.literal("conversation.item.input_audio_transcription.failed"), // Realtime, transcription failed: `type`
    event_id: eventId,
    item_id: z.string(), // Realtime, transcription failed: `item_id`
    content_index: z.number(), // Realtime, transcription failed: `content_index`
    error: z.strictObject({ type: z.string(), code: z.string().nullable(), message: z.string() }), // Realtime, transcription failed: `error`
  }),
  z.strictObject({
    type: z.literal("error"), // Realtime, error: `type`
    event_id: eventId,
    error: z.strictObject({
      type: z.string(), // Realtime, error: `type`
      code: z.string().nullable(), // Realtime, error: `code`
      message: z.string(), // Realtime, error: `message`
      param: z.string().nullable(), // Realtime, error: `param`
      // Of the client's event that caused it.
      event_id: z.string().nullable(),
    }),
  }),
]);
export type ServerEvent = z.infer<typeof ServerEvent>;
