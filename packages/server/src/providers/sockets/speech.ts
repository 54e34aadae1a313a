/** One spoken sentence as its vendor sends it: audio, times of words, the end, or an error. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { AudioOutput } from "../../ports/voice-provider.ts";
import { errorOf } from "../../pacing/error-text.ts";
import { type AudioFormat, AudioFrames, nearestRate } from "./audio-frames.ts";
import type { SocketRequest } from "./socket-request.ts";
import { WordTimes } from "./word-times.ts";

/** A message of a vendor, in the words of this adapter layer. */
export interface SpeechMessage {
  /** Base64. */
  readonly audio?: string;
  /** Notes the words of this message. `audioMs`: the length of the audio that came in earlier messages. */
  readonly words?: (times: WordTimes, audioMs: number) => void;
  readonly failure?: EngineFailure;
  readonly isLast?: boolean;
}

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
  const frames = new AudioFrames(format);
  const times = new WordTimes(text);
  for (;;) {
    const message = await request.next(silenceLimitMs);
    if (message.failure !== undefined || message.isLast === true) ended();
    if (message.failure !== undefined) throw message.failure;
    const beforeMs = frames.durationMs;
    if (message.audio !== undefined) yield* push(vendor, frames, message.audio);
    message.words?.(times, beforeMs);
    yield* times.within(frames.durationMs);
    if (message.isLast === true) break;
  }
  if (frames.durationMs === 0) throw new EngineFailure(`${vendor} sent no audio`, { type: "no_audio" });
  yield* times.rest(frames.durationMs);
}

function push(vendor: string, frames: AudioFrames, audio: string): TtsPart[] {
  try {
    return frames.push(audio);
  } catch (error) {
    throw new EngineFailure(`${vendor} sent ${errorOf(error).message}`, { cause: error, type: "garbage" });
  }
}

/**
 * The text as it is sent, of the same length, so that offsets stay true: without control characters and half
 * surrogates. Null: nothing in it can be spoken. Throws when it is too long.
 */
export function spokenText(text: string): string | null {
  if (text.length > MAX_TEXT_CHARS) {
    const message = `text of ${String(text.length)} characters is over ${String(MAX_TEXT_CHARS)}`;
    throw new EngineFailure(message, { type: "too_long" });
  }
  const clean = text.toWellFormed().replaceAll(/\p{Cc}/gu, " ");
  return /[\p{L}\p{N}]/u.test(clean) ? clean : null;
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
