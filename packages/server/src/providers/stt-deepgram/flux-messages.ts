/** Reads what Deepgram's Flux models send, as far as Parley uses it. */

import { z } from "zod";

/** Words of one turn: an utterance has a minute of speech. */
const WORDS_MAX = 2_000;
const TEXT_MAX_CHARS = 20_000;

const seconds = z.number().min(0).max(1e7);

/** Older versions give no times of words. */
const Word = z.object({ word: z.string(), start: seconds.optional(), end: seconds.optional() });

const TurnInfo = z.object({
  type: z.literal("TurnInfo"),
  event: z.string().max(100),
  turn_index: z.number().int().min(0).max(1e7),
  audio_window_start: seconds,
  audio_window_end: seconds,
  transcript: z.string().max(TEXT_MAX_CHARS),
  words: z.array(Word).max(WORDS_MAX),
  end_of_turn_confidence: z.number().min(0).max(1),
});

const Failure = z.object({
  type: z.literal("Error"),
  code: z.string().max(200).optional(),
  description: z.string().optional(),
});

export interface FluxTurn {
  readonly kind: "turn";
  /** `Update`, `StartOfTurn`, `EagerEndOfTurn`, `TurnResumed`, `EndOfTurn`, or one that is new. */
  readonly event: string;
  readonly index: number;
  /** Of the audio of the connection, in seconds. */
  readonly startS: number;
  readonly endS: number;
  /** Of the whole turn so far. */
  readonly text: string;
  /** 0 to 1. */
  readonly confidence: number;
  /** The words from a moment of the audio on; null: their times are not known. */
  readonly textFrom: (atS: number) => string | null;
}

export type FluxMessage =
  FluxTurn | { readonly kind: "error"; readonly text: string } | { readonly kind: "other" };

/** Null: no message of Flux. */
export function readFluxMessage(text: string): FluxMessage | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const turn = TurnInfo.safeParse(json);
  if (turn.success) return turnOf(turn.data);
  const failure = Failure.safeParse(json);
  if (failure.success) {
    const { code, description } = failure.data;
    return { kind: "error", text: [code, description].filter((part) => part !== undefined).join(": ") };
  }
  const typed = z.object({ type: z.string() }).safeParse(json);
  // A known type with other fields is as unusable as no message; unknown types may be new ones.
  if (!typed.success || ["TurnInfo", "Error"].includes(typed.data.type)) return null;
  return { kind: "other" };
}

function turnOf(info: z.infer<typeof TurnInfo>): FluxTurn {
  const { words } = info;
  return {
    kind: "turn",
    event: info.event,
    index: info.turn_index,
    startS: info.audio_window_start,
    endS: info.audio_window_end,
    text: info.transcript.trim(),
    confidence: info.end_of_turn_confidence,
    textFrom: (atS) => {
      const timed = words.flatMap(({ word, start, end }) =>
        start === undefined || end === undefined ? [] : [{ word, middleS: (start + end) / 2 }],
      );
      if (timed.length < words.length) return null;
      return timed.flatMap(({ word, middleS }) => (middleS >= atS ? [word] : [])).join(" ");
    },
  };
}
