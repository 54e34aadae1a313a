/** The audio of one sentence, which several voices may say one after the other, as that of one voice. */

import { Resampler } from "../../media/resample.ts";
import { SPOKEN_CHARS_PER_SECOND } from "../../media/silence.ts";
import { wordSpans } from "../../media/words.ts";
import type { TtsPart } from "../../ports/tts.ts";
import { restFrom, type TimedWord } from "./rest-of-text.ts";

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

  /** Parts of the whole sentence, at the rate of the first voice, in place of a part of one voice. */
  *take(part: TtsPart): Generator<TtsPart> {
    if (part.type === "audio") {
      yield* this.#audio(part);
      return;
    }
    // Times of the rest alone would say that nothing before it was heard.
    if (this.isContinued && this.#words.length === 0) return;
    const { textOffset, atMs } = this.#from;
    this.#ownWords += 1;
    yield this.#word({ textOffset: part.textOffset + textOffset, atMs: part.atMs + atMs });
  }

  /** The end of the voice's audio. */
  *end(): Generator<TtsPart> {
    const samples = this.#resampler?.flush();
    this.#resampler = null;
    if (samples !== undefined && samples.length > 0) yield this.#timed(samples);
  }

  /**
   * The voice has failed. What it has not said is the rest from now on; false: there is none.
   * @param msPerChar the pace of the voice; null: not known yet
   */
  goOn(msPerChar: number | null): boolean {
    this.close();
    const { textOffset, atMs } = this.#from;
    const words = this.#words
      .filter((word) => word.textOffset >= textOffset)
      .map((word) => ({ textOffset: word.textOffset - textOffset, atMs: word.atMs - atMs }));
    const offset = restFrom(this.rest, words, this.#audioMs - atMs, msPerChar);
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
      if (startsMs >= beganMs) yield this.#word({ textOffset: textOffset + start, atMs: startsMs });
    }
  }
}

/** Whether there is anything to be said in it. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
