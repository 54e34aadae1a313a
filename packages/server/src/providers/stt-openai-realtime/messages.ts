/** Reads what a realtime transcription server sends, as far as Parley uses it. */

import { z } from "zod";

/** The protocol's name for the settings of a connection. */
export const SETTINGS = "session";

const TEXT_MAX_CHARS = 20_000;

const id = z.string().max(512);
const text = z.string().max(TEXT_MAX_CHARS);
const details = z.object({
  code: z.string().nullish(),
  type: z.string().nullish(),
  message: z.string().nullish(),
  param: z.string().nullish(),
  event_id: z.string().nullish(),
});

const Event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session.created") }),
  z.object({ type: z.literal("session.updated") }),
  z.object({ type: z.literal("input_audio_buffer.committed"), item_id: id }),
  z.object({
    type: z.literal("conversation.item.input_audio_transcription.delta"),
    item_id: id,
    delta: text,
  }),
  z.object({
    type: z.literal("conversation.item.input_audio_transcription.completed"),
    item_id: id,
    transcript: text,
  }),
  z.object({
    type: z.literal("conversation.item.input_audio_transcription.failed"),
    item_id: id,
    error: details.nullish(),
  }),
  z.object({ type: z.literal("error"), error: details }),
]);
export type RealtimeEvent = z.infer<typeof Event>;
export type ErrorDetails = z.infer<typeof details>;

const KNOWN: ReadonlySet<string> = new Set(Event.options.map(({ shape }) => shape.type.value));

/** "other": an event that is not used here. Null: no event at all, or a used one with other fields. */
export function readEvent(json: string): RealtimeEvent | "other" | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  const event = Event.safeParse(value);
  if (event.success) return event.data;
  const typed = z.object({ type: z.string() }).safeParse(value);
  return typed.success && !KNOWN.has(typed.data.type) ? "other" : null;
}
