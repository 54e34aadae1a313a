/**
 * What Parley and Deepgram's Flux models say to each other, as Deepgram documents it. Strict: the fake of the tests
 * refuses what is not here. The adapter itself reads answers by `flux-messages.ts`, which ignores what it does not need.
 */

import { z } from "zod";

const share = (from: number, to: number) =>
  z
    .string()
    .regex(/^[01](?:\.\d+)?$/)
    .refine((text) => Number(text) >= from && Number(text) <= to);

/** API reference "Turn-based Audio (Flux)", query parameters; a parameter is repeated for each key term. */
export const FluxQuery = z.strictObject({
  // "Model": flux-general-en or flux-general-multi.
  model: z.string().regex(/^flux-[a-z0-9-]{1,60}$/),
  // "Encoding" and "Sample rate": required for raw audio.
  encoding: z.literal("linear16"),
  sample_rate: z.literal("16000"), // "Flux", query: `sample_rate`
  // "End-of-Turn Detection Parameters": 0.3 to 0.9; without it there are no early ends of turns.
  eager_eot_threshold: share(0.3, 0.9),
  // The same page: 0.5 to 1.0.
  eot_threshold: share(0.5, 1),
  // The same page: 500 to 60,000. It was 10,000 before, which servers of customers may still have, so more is not asked for.
  eot_timeout_ms: z
    .string()
    .regex(/^\d{3,5}$/)
    .refine((text) => Number(text) >= 500 && Number(text) <= 10_000),
  // "Keyterm prompting": at most 100 terms, 500 tokens in all.
  keyterm: z.array(z.string().min(1).max(100)).max(100).optional(),
  // "Language Prompting": flux-general-multi only.
  language_hint: z
    .array(z.string().regex(/^[a-z]{2,3}$/))
    .max(20)
    .optional(),
});

/** Text messages to Flux. Audio is sent in binary messages, 80 ms is advised. There is no `KeepAlive` and no `Finalize`. */
export const FluxClientMessage = z.discriminatedUnion("type", [
  // "Force End Turn": ends the turn with what was transcribed; ignored where no turn is in progress.
  z.strictObject({ type: z.literal("ForceEndTurn") }),
  // API reference: the rest is recognised, then the socket is closed.
  z.strictObject({ type: z.literal("CloseStream") }),
]);

/** API reference, messages of the server. Each counts one further in `sequence_id`. */
export const FluxServerMessage = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("Connected"), request_id: z.string(), sequence_id: z.number() }),
  z.strictObject({
    type: z.literal("TurnInfo"), // "Flux", TurnInfo: `type`
    request_id: z.string(), // "Flux", TurnInfo: `request_id`
    sequence_id: z.number(), // "Flux", TurnInfo: `sequence_id`
    // "Understanding the Flux State Machine".
    event: z.enum(["Update", "StartOfTurn", "EagerEndOfTurn", "TurnResumed", "EndOfTurn"]),
    // It grows after each `EndOfTurn`.
    turn_index: z.number(),
    // Seconds of audio.
    audio_window_start: z.number(),
    audio_window_end: z.number(), // "Flux", TurnInfo: `audio_window_end`
    // Of the whole turn so far.
    transcript: z.string(),
    // Times of words are in later versions only.
    words: z.array(
      z.strictObject({
        word: z.string(), // "Flux", TurnInfo: `word`
        confidence: z.number(), // "Flux", TurnInfo: `confidence`
        start: z.number().optional(), // "Flux", TurnInfo: `start`
        end: z.number().optional(), // "Flux", TurnInfo: `end`
      }),
    ),
    end_of_turn_confidence: z.number(), // "Flux", TurnInfo: `end_of_turn_confidence`
    // "Force End Turn": what has ended the turn.
    trigger: z.enum(["model", "manual"]).optional(),
  }),
  // API reference "FatalError": the socket is closed afterwards.
  z.strictObject({
    type: z.literal("Error"), // "Flux", Error: `type`
    sequence_id: z.number(), // "Flux", Error: `sequence_id`
    code: z.string(), // "Flux", Error: `code`
    description: z.string(), // "Flux", Error: `description`
  }),
]);
export type FluxServerMessage = z.infer<typeof FluxServerMessage>;
