/** The audio of one sentence, which several voices may say one after the other, as that of one voice. */

import { Resampler } from "../../media/resample.ts";
import { SPOKEN_CHARS_PER_SECOND } from "../../media/silence.ts";
import { wordSpans } from "../../media/words.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { SpokenSentence } from "./paces.ts";
import { Pauses, spokenMs } from "./pauses.ts";
import { restFrom, type TimedWord } from "./rest-of-text.ts";
import { spokenWeight, type Pace } from "./spoken-place.ts";

type AudioPart = Extract<TtsPart, { readonly type: "audio" }>;

export class Sentence {
  readonly #text: string;
  /** Of all voices so far, in times of the whole sentence. */
  readonly #words: TimedWord[] = [];
  /** Where the voice that speaks now has begun. */
  #from: TimedWord = { textOffset: 0, atMs: 0 };
  /** Words that this voice has given times of. */
  #ownWords = 0;
  #rateHz: number | null = null;
  #resampler: Resampler | null = null;
  #audioMs = 0;
  /** Of the voice that speaks now, as long as it gives no times of words. */
  #pauses = new Pauses();
  #hasTimes = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** What came so far. */
  get audioMs(): number {
    return this.#audioMs;
  }

  /** What the voice that speaks now has to say. */
  get rest(): string {
    return this.#text.slice(this.#from.textOffset);
  }

  /** Whether another voice has said its beginning. */
  get isContinued(): boolean {
    return this.#from.atMs > 0;
  }

  /** For the pace of the voice that has said all of it; null: there is nothing to measure. */
  get spoken(): SpokenSentence | null {
    const weight = spokenWeight(this.#text);
    if (this.isContinued || this.#hasTimes || weight === 0) return null;
    return { ms: spokenMs(this.#pauses.find(), this.#audioMs), weight };
  }

  /** Parts of the whole sentence, at the rate of the first voice, in place of a part of one voice. */
  *take(part: TtsPart): Generator<TtsPart> {
    if (part.type === "audio") {
      yield* this.#audio(part);
      return;
    }
    // Times of the rest alone would say that nothing before it was heard.
    if (this.isContinued && this.#words.length === 0) return;
    this.#hasTimes ||= part.isEstimate !== true;
    const { textOffset, atMs } = this.#from;
    this.#ownWords += 1;
    const estimate = part.isEstimate === true ? { isEstimate: true as const } : {};
    yield this.#word({ textOffset: part.textOffset + textOffset, atMs: part.atMs + atMs, ...estimate });
  }

  /** The end of the voice's audio. */
  *end(): Generator<TtsPart> {
    const samples = this.#resampler?.flush();
    this.#resampler = null;
    if (samples !== undefined && samples.length > 0) yield this.#timed(samples);
  }

  /**
   * The voice has failed. What it has not said is the rest from now on; false: there is none.
   * @param pace of the voice; null: not known yet
   */
  goOn(pace: Pace | null): boolean {
    this.close();
    const { textOffset, atMs } = this.#from;
    const words = this.#words
      .filter((word) => word.textOffset >= textOffset)
      .map((word) => ({ ...word, textOffset: word.textOffset - textOffset, atMs: word.atMs - atMs }));
    const heard = { audioMs: this.#audioMs - atMs, words, pauses: this.#pauses.find() };
    const offset = restFrom(this.rest, heard, pace);
    this.#pauses = new Pauses();
    this.#hasTimes = false;
    this.#from = { textOffset: textOffset + offset, atMs: this.#audioMs };
    this.#ownWords = 0;
    return isSpeakable(this.rest);
  }

  /** Idempotent. */
  close(): void {
    this.#resampler?.close();
    this.#resampler = null;
  }

  *#audio({ samples, sampleRateHz }: AudioPart): Generator<TtsPart> {
    if (samples.length === 0) return;
    this.#rateHz ??= sampleRateHz;
    if (sampleRateHz !== this.#rateHz) this.#resampler ??= new Resampler(sampleRateHz, this.#rateHz);
    const own = this.#resampler === null ? samples : this.#resampler.push(samples);
    if (own.length === 0) return;
    const beganMs = this.#audioMs;
    const part = this.#timed(own);
    yield* this.#estimatedWords(beganMs);
    yield part;
  }

  #timed(samples: Int16Array): AudioPart {
    const sampleRateHz = this.#rateHz ?? 0;
    if (!this.#hasTimes) this.#pauses.push(samples, sampleRateHz);
    this.#audioMs += (samples.length * 1_000) / sampleRateHz;
    return { type: "audio", samples, sampleRateHz };
  }

  #word(word: TimedWord): TtsPart {
    this.#words.push(word);
    return { type: "word", ...word };
  }

  /**
   * Where the first voice gives times of words and this one does not: without times of the rest, an interrupted
   * sentence would be cut at the word before it. Words begin at the usual pace, as far as there is audio.
   */
  *#estimatedWords(beganMs: number): Generator<TtsPart> {
    if (!this.isContinued || this.#words.length === 0 || this.#ownWords > 0) return;
    const { textOffset, atMs } = this.#from;
    for (const { start } of wordSpans(this.rest)) {
      const startsMs = atMs + (start / SPOKEN_CHARS_PER_SECOND) * 1_000;
      if (startsMs >= this.#audioMs) break;
      if (startsMs >= beganMs)
        yield this.#word({ textOffset: textOffset + start, atMs: startsMs, isEstimate: true });
    }
  }
}

/** Whether there is anything to be said in it. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
