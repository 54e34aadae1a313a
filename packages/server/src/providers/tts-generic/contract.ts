/**
 * What a server for a `generic` voice gets and may answer. It is Parley's own contract: docs/providers.md, "Any HTTP
 * server", describes it for people, and a test compares both this file and what is sent with that page.
 *
 * "Page" below: docs/providers.md, Any HTTP server. "Definition": the field of the voice's definition.
 */

import { z } from "zod";

/** Page: the body of a voice without `body`. With it, the text takes the place of `{text}` in each of its texts. */
export const DefaultRequest = z.strictObject({
  text: z.string().min(1), // Page: `{"text": "{text}"}`
});

/** Page: headers where the definition has none of these names. */
export const RequestHeaders = z.object({
  "content-type": z.literal("application/json"), // Page: a POST with a JSON body
  accept: z.string(), // Page: the answers that can be read
});

/** Page: types of the answer, and how each is read. `responseMimeType` wins over the Content-Type. */
export const ANSWER_TYPES = {
  "audio/wav": "audio", // Page: 16-bit PCM of one or two channels
  "audio/l16": "audio", // Page: 16-bit samples
  "audio/pcm": "audio", // Page: 16-bit samples
  "application/octet-stream": "audio", // Page: 16-bit samples
  "application/json": "json", // Page: audio at `jsonAudioFieldPath`
  "application/jsonl": "lines", // Page: one document a line
  "application/x-ndjson": "lines", // Page: one document a line
  "text/event-stream": "lines", // Page: one document an event
} as const;

/** Page: JSON that has audio at the path `audio`, the one of the tests; other paths are the definition's. */
export const JsonAnswer = z.looseObject({
  audio: z.base64(), // Definition: `jsonAudioFieldPath`, `jsonByteEncoding`
});

/** Page: samples without a rate of their own. */
export const DEFAULT_RATE_HZ = 24_000;
/** Page: words a minute of a voice without `responseWordsPerMinute`. */
export const DEFAULT_WORDS_PER_MINUTE = 150;
