/** Reads what Deepgram sends, as far as Parley uses it. */

import { z } from "zod";

/** Words of one result: Deepgram makes one final after 10 s of speech at the latest. */
const WORDS_MAX = 2_000;
const TEXT_MAX_CHARS = 20_000;

const seconds = z.number().min(0).max(1e7);

const Results = z.object({
  type: z.literal("Results"),
  start: seconds,
  duration: seconds,
  is_final: z.boolean(),
  speech_final: z.boolean().default(false),
  from_finalize: z.boolean().default(false),
  channel: z.object({
    alternatives: z.array(
      z.object({
        transcript: z.string().max(TEXT_MAX_CHARS),
        words: z
          .array(
            z.object({
              word: z.string(),
              punctuated_word: z.string().optional(),
              start: seconds,
              end: seconds,
            }),
          )
          .max(WORDS_MAX)
          .default([]),
      }),
    ),
  }),
});

/** -1 where there was no word. */
const UtteranceEnd = z.object({
  type: z.literal("UtteranceEnd"),
  last_word_end: z.number().min(-1).max(1e7),
});

const Failure = z.object({
  type: z.literal("Error"),
  description: z.string().optional(),
  message: z.string().optional(),
});

export interface Result {
  readonly kind: "result";
  /** Of the audio of the connection, in seconds. */
  readonly startS: number;
  readonly endS: number;
  readonly isFinal: boolean;
  readonly isFinalize: boolean;
  /** Deepgram has heard as much silence as it was asked for. */
  readonly isSpeechFinal: boolean;
  readonly text: string;
  /** End of the last word, in seconds; null: there is none. */
  readonly lastWordS: number | null;
  /** The words of `text` from a moment of the audio on. */
  readonly textFrom: (atS: number) => string;
}

export type DeepgramMessage =
  | Result
  | { readonly kind: "utteranceEnd"; readonly lastWordS: number }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "other" };

/** Null: no message of Deepgram's. */
export function readMessage(text: string): DeepgramMessage | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const results = Results.safeParse(json);
  if (results.success) return resultOf(results.data);
  const ended = UtteranceEnd.safeParse(json);
  if (ended.success) return { kind: "utteranceEnd", lastWordS: ended.data.last_word_end };
  const failure = Failure.safeParse(json);
  if (failure.success) {
    return { kind: "error", text: failure.data.description ?? failure.data.message ?? "an error" };
  }
  const typed = z.object({ type: z.string() }).safeParse(json);
  // A message of a known type with other fields is as unusable as no message; unknown types may be new ones.
  if (!typed.success || ["Results", "Error"].includes(typed.data.type)) return null;
  return { kind: "other" };
}

function resultOf(results: z.infer<typeof Results>): Result {
  const { start, duration, is_final, speech_final, from_finalize, channel } = results;
  const [best] = channel.alternatives;
  const text = best?.transcript.trim() ?? "";
  return {
    kind: "result",
    startS: start,
    endS: start + duration,
    isFinal: is_final,
    isFinalize: from_finalize,
    isSpeechFinal: speech_final,
    text,
    lastWordS: text === "" ? null : (best?.words.at(-1)?.end ?? start + duration),
    textFrom: (atS) =>
      (best?.words ?? [])
        .filter((word) => (word.start + word.end) / 2 >= atS)
        .map(({ punctuated_word, word }) => punctuated_word ?? word)
        .join(" "),
  };
}
