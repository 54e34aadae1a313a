/** Sentences of vendors that answer each with audio, times of words and a last message. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { AudioOutput } from "../../ports/voice-provider.ts";
import { type AudioFormat, nearestRate } from "./audio-frames.ts";
import type { SocketRequest } from "./socket-request.ts";
import { SpokenParts, type SpokenPiece } from "./spoken-parts.ts";

/** A message of a vendor, in the words of this adapter layer. */
export interface SpeechMessage extends SpokenPiece {
  readonly failure?: EngineFailure;
  readonly isLast?: boolean;
  /** All audio has come, but the vendor has not ended the request yet. */
  readonly isSpoken?: boolean;
}

/** After `isSpoken`: the vendor's end of the request, and audio that comes nevertheless. It is a few ms behind. */
const END_LIMIT_MS = 1_000;

/** The least that any model of these vendors takes in a request; a sentence of a call has some hundred characters. */
export const MAX_TEXT_CHARS = 3_000;

export interface ReadSpeechOptions {
  readonly vendor: string;
  readonly text: string;
  readonly format: AudioFormat;
  readonly silenceLimitMs: number;
  /** Called when the vendor has said its last about this request, also by an error. */
  readonly ended: () => void;
}

/** Reads until the last message. Throws `EngineFailure` for an error of the vendor and for a sentence without audio. */
export async function* readSpeech(
  request: SocketRequest<SpeechMessage>,
  { vendor, text, format, silenceLimitMs, ended }: ReadSpeechOptions,
): AsyncGenerator<TtsPart> {
  const spoken = new SpokenParts(vendor, text, format);
  let isSpoken = false;
  for (let isLast = false; !isLast;) {
    const message: SpeechMessage | null = isSpoken
      ? await nextOrEnd(request)
      : await request.next(silenceLimitMs);
    if (message === null) break;
    isLast = message.isLast === true;
    isSpoken = message.isSpoken === true || (isSpoken && message.audio === undefined);
    if (message.failure !== undefined || isLast) ended();
    if (message.failure !== undefined) throw message.failure;
    yield* spoken.take(message);
  }
  yield* spoken.end();
}

/** Null: nothing has come. */
async function nextOrEnd(request: SocketRequest<SpeechMessage>): Promise<SpeechMessage | null> {
  try {
    return await request.next(END_LIMIT_MS);
  } catch (error) {
    if (error instanceof EngineFailure && error.type === "timeout") return null;
    throw error;
  }
}

/** What the vendor is asked for: mu-law where it is played so, else PCM at the nearest rate. */
export function formatFor(output: AudioOutput, rates: readonly number[]): AudioFormat {
  if (output.encoding === "mulaw") return { encoding: "mulaw", sampleRateHz: 8_000 };
  return { encoding: "pcm_s16le", sampleRateHz: nearestRate(rates, output.sampleRateHz) };
}

/** Names of languages that vendors know under another code. */
const ALIASES: Readonly<Record<string, string>> = { nb: "no", nn: "no", cmn: "zh", iw: "he", in: "id" };

/** The code of the language as a vendor has it, or null where it has none: then it hears the language in the text. */
export function languageCode(
  language: string | null,
  known: ReadonlySet<string>,
  aliases: Readonly<Record<string, string>> = {},
): string | null {
  const primary = (language ?? "").toLowerCase().split(/[-_]/, 1)[0] ?? "";
  const code = aliases[primary] ?? ALIASES[primary] ?? primary;
  return known.has(code) ? code : null;
}
