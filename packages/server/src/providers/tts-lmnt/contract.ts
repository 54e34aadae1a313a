/**
 * The messages of LMNT's speech websocket, protocol 1.1, at `/v1/ai/speech/stream`. Each comment names the place in
 * LMNT's public documentation (docs.lmnt.com).
 */

import { z } from "zod";

/** API version header and field: "Versioning". */
export const LMNT_VERSION = "1.1";
/** Rates of `sample_rate`: "Speech session", the first message. */
export const LMNT_RATES_HZ = [8_000, 16_000, 24_000] as const;
/** Longest text: "Synthesize speech", field `text`. */
export const LMNT_MAX_TEXT_CHARS = 5_000;

/** The first message: "Speech session", parameters. */
export const LmntStart = z.strictObject({
  /** "Authentication": in the first message, because not all clients can send headers. */
  "X-API-Key": z.string().min(1),
  /** "Versioning". */
  "lmnt-version": z.literal(LMNT_VERSION),
  /** "Speech session": the id of a voice. */
  voice: z.string().min(1),
  /** "Speech session": formats of the websocket; `ulaw` has a WAV header. */
  format: z.enum(["mp3", "pcm_s16le", "pcm_f32le", "ulaw", "webm"]),
  /** "Speech session": in Hz. */
  sample_rate: z.literal(LMNT_RATES_HZ),
  /** "Speech session": ISO 639-1, or `auto`. */
  language: z.union([z.literal("auto"), z.string().regex(/^[a-z]{2}$/)]),
  /** "Speech session": asks for `timestamps` messages. */
  return_timestamps: z.boolean(),
  /** "Models"; the older protocol has it here, so it is sent only where a voice names one. */
  model: z.string().min(1).optional(),
  /** "Changelog", removed from the documentation in 2026; from 0.25 to 2. */
  speed: z.number().min(0.25).max(2).optional(),
  /** "Changelog", removed from the documentation in 2025. */
  conversational: z.boolean().optional(),
});
export type LmntStart = z.output<typeof LmntStart>;

/** What follows: "Speech session", client messages. */
export const LmntClientMessage = z.discriminatedUnion("type", [
  /** Adds to the text that waits. */
  z.strictObject({ type: z.literal("text"), text: z.string().min(1).max(LMNT_MAX_TEXT_CHARS) }),
  /** Speaks what waits; `flush_complete` has the same nonce. */
  z.strictObject({ type: z.literal("flush"), nonce: z.int().min(0) }),
  /** Forgets what waits and what is being spoken; `reset_complete` has the same nonce. */
  z.strictObject({ type: z.literal("reset"), nonce: z.int().min(0) }),
  /** Speaks what waits, then the server closes. */
  z.strictObject({ type: z.literal("finish") }),
]);
export type LmntClientMessage = z.output<typeof LmntClientMessage>;

const LmntTimestamp = z.object({ text: z.string(), start: z.number(), duration: z.number().optional() });

/** "Speech session", server messages. Fields that are not listed are ignored, because LMNT may add some. */
export const LmntServerMessage = z.union([
  /** The first message was accepted. */
  z.object({ type: z.literal("ready") }),
  /** Words with their times in seconds. */
  z.object({
    type: z.literal("timestamps"), // "Speech session", timestamps: `type`
    // Times of another shape are left out: the audio is worth more than they are.
    timestamps: z.array(LmntTimestamp).catch([]), // "Speech session", timestamps: `timestamps`
  }),
  z.object({ type: z.literal("flush_complete"), nonce: z.int().optional() }),
  z.object({ type: z.literal("reset_complete"), nonce: z.int().optional() }),
  /** "Errors": the server closes afterwards. */
  z.object({
    type: z.literal("error"), // "Speech session", error: `type`
    error: z.union([z.object({ type: z.string().optional(), message: z.string().optional() }), z.string()]), // "Speech session", error: `error`
  }),
  /** "Errors", the form of older versions. */
  z
    .object({ error: z.string(), type: z.undefined().optional() })
    .transform(({ error }) => ({ type: "error" as const, error })),
]);
export type LmntServerMessage = z.output<typeof LmntServerMessage>;

/** Values of `type` that are understood. Messages of other types are ignored, because LMNT may add some. */
export const LMNT_SERVER_TYPES: readonly string[] = [
  "ready",
  "timestamps",
  "flush_complete",
  "reset_complete",
  "error",
];

/** "Errors": types with which the next request would be refused as well. */
export const LMNT_PERMANENT_ERRORS: readonly string[] = [
  "authentication_error",
  "permission_error",
  "not_found_error",
  "payment_required_error",
];
