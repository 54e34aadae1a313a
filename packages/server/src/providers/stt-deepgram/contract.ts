/**
 * What Parley and Deepgram say to each other, as Deepgram documents it. Strict: the fake of the tests refuses what is
 * not here. The adapter itself reads answers by `messages.ts`, which ignores what it does not need.
 */

import { z } from "zod";

/** API reference "Live Audio", query parameters; a parameter is repeated for each key term. */
export const ListenQuery = z.strictObject({
  // "Model": name of the model, such as nova-3 or nova-2-phonecall.
  model: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/i),
  // "Language": BCP 47, or `multi` for speech in several languages.
  language: z
    .string()
    .regex(/^(?:multi|[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)$/)
    .optional(),
  // "Encoding": required for raw audio, together with the sample rate.
  encoding: z.literal("linear16"),
  // "Sample rate": of the raw audio, in Hz.
  sample_rate: z.literal("16000"),
  // "Channels".
  channels: z.literal("1"),
  // "Interim results".
  interim_results: z.literal("true"),
  // "Punctuation".
  punctuate: z.literal("true"),
  // "Endpointing": milliseconds of silence, or false.
  endpointing: z.union([z.literal("false"), z.string().regex(/^\d{1,5}$/)]),
  // "Utterance End": milliseconds, 1000 and more, with interim results.
  utterance_end_ms: z
    .string()
    .regex(/^[1-9]\d{3,4}$/)
    .optional(),
  // "Keyterm prompting": Nova-3 only; at most 500 tokens in all.
  keyterm: z.array(z.string().min(1).max(100)).max(100).optional(),
  // "Keywords": models before Nova-3; at most 100, each with an optional intensifier.
  keywords: z
    .array(z.string().regex(/^[^:]{1,100}(?::-?\d+(?:\.\d+)?)?$/))
    .max(100)
    .optional(),
});

/** Text messages to Deepgram. Audio is sent in binary messages, which are never empty. */
export const ClientMessage = z.discriminatedUnion("type", [
  // "Audio Keep Alive": a text message every 3 to 5 s; without it or audio the socket is closed after 10 s.
  z.strictObject({ type: z.literal("KeepAlive") }),
  // "Finalize": all audio so far is recognised at once.
  z.strictObject({ type: z.literal("Finalize") }),
  // "Close Stream": the rest is recognised, then the socket is closed.
  z.strictObject({ type: z.literal("CloseStream") }),
]);

/** API reference "Live Audio", messages of the server. */
const Word = z.strictObject({
  word: z.string(), // "Live Audio", words: `word`
  start: z.number(), // "Live Audio", words: `start`
  end: z.number(), // "Live Audio", words: `end`
  confidence: z.number(), // "Live Audio", words: `confidence`
  // "Punctuation": only with `punctuate`.
  punctuated_word: z.string().optional(),
});

export const ServerMessage = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("Results"), // "Live Audio", Results: `type`
    channel_index: z.tuple([z.number(), z.number()]), // "Live Audio", Results: `channel_index`
    // "Word timings" of "Audio Keep Alive": seconds of audio, pauses without audio do not count.
    start: z.number(),
    duration: z.number(), // "Live Audio", Results: `duration`
    // "Interim results": false for text that may still change.
    is_final: z.boolean(),
    // "Endpointing": the pause was as long as was asked for. The transcript may be empty.
    speech_final: z.boolean(),
    // "Finalize": may be missing where little audio was left to recognise.
    from_finalize: z.boolean(),
    // "Live Audio", Results: one alternative, with its words.
    channel: z.strictObject({
      // "Live Audio", Results: `channel.alternatives`.
      alternatives: z.array(
        z.strictObject({ transcript: z.string(), confidence: z.number(), words: z.array(Word) }),
      ),
    }),
    metadata: z.strictObject({ request_id: z.string() }), // "Live Audio", Results: `metadata`
  }),
  // "Close Stream": the last message.
  z.strictObject({
    type: z.literal("Metadata"), // "Live Audio", Metadata: `type`
    request_id: z.string(), // "Live Audio", Metadata: `request_id`
    duration: z.number(), // "Live Audio", Metadata: `duration`
    channels: z.number(), // "Live Audio", Metadata: `channels`
    created: z.string(), // "Live Audio", Metadata: `created`
  }),
  // "Speech Started" and "Utterance End": only with `vad_events` and `utterance_end_ms`.
  z.strictObject({ type: z.literal("SpeechStarted"), channel: z.array(z.number()), timestamp: z.number() }),
  z.strictObject({
    type: z.literal("UtteranceEnd"), // "Live Audio", UtteranceEnd: `type`
    channel: z.array(z.number()), // "Live Audio", UtteranceEnd: `channel`
    // Seconds of audio; -1: there was no word.
    last_word_end: z.number(),
  }),
]);
export type ServerMessage = z.infer<typeof ServerMessage>;

/** "Error handling" of live audio: the body of a refused upgrade. */
export const Refusal = z.strictObject({
  err_code: z.string(), // "Error handling": `err_code`
  err_msg: z.string(), // "Error handling": `err_msg`
  request_id: z.string(), // "Error handling": `request_id`
});
