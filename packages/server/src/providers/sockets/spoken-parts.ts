/** What a request needs besides its socket: the text that a vendor gets, and the parts made of what the vendor sends. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { TtsPart } from "../../ports/tts.ts";
import { AudioFrames, type AudioFormat } from "./audio-frames.ts";
import { WordTimes } from "./word-times.ts";

/**
 * The text for a vendor, as long as `text`, so that offsets are the same: without control characters and halves of
 * surrogate pairs, which vendors refuse or speak. Null: there is nothing to say. Throws where it is too long.
 */
export function spokenText(vendor: string, text: string, maxChars: number): string | null {
  const spoken = text.toWellFormed().replaceAll(/\p{Cc}/gu, " ");
  if (spoken.length > maxChars) {
    const sizes = `${String(spoken.length)} characters; the limit is ${String(maxChars)}`;
    throw new EngineFailure(`the text for ${vendor} has ${sizes}`, { type: "too_long" });
  }
  return /[^\s\p{C}]/u.test(spoken) ? spoken : null;
}

/** Words are given when the audio into which they point has come. */
export class SpokenParts {
  readonly #vendor: string;
  readonly #text: string;
  readonly #audio: AudioFrames;
  readonly #words: WordTimes;

  constructor(vendor: string, text: string, format: AudioFormat) {
    this.#vendor = vendor;
    this.#text = text;
    this.#audio = new AudioFrames(format);
    this.#words = new WordTimes(text);
  }

  /** Length of the audio that has come, in ms. */
  get durationMs(): number {
    return this.#audio.durationMs;
  }

  /** Base64 or bytes, cut anywhere. */
  async *audio(data: string | Uint8Array): AsyncGenerator<TtsPart, void, undefined> {
    const parts = this.#decoded(data);
    for (const [index, part] of parts.entries()) {
      // A vendor may send a sentence at once; others get their turn between its parts.
      if (index > 0) await nextTurn();
      yield part;
    }
    yield* this.#words.within(this.durationMs);
  }

  /** `atMs` counts from the beginning of the audio of this request. */
  word(word: string, atMs: number): void {
    this.#words.word(word, atMs);
  }

  /** The words that are left. Throws where a text that can be spoken had no audio. */
  *end(): Generator<TtsPart, void, undefined> {
    if (this.durationMs === 0 && /[\p{L}\p{N}]/u.test(this.#text))
      throw new EngineFailure(`${this.#vendor} answered no audio`, { type: "no_audio" });
    if (this.durationMs > 0) yield* this.#words.rest(this.durationMs);
  }

  #decoded(data: string | Uint8Array): readonly TtsPart[] {
    try {
      return this.#audio.push(data);
    } catch (error) {
      throw new EngineFailure(`${this.#vendor} sent ${messageOf(error)}`, { cause: error, type: "garbage" });
    }
  }
}

/** JSON of a vendor. Throws what is said of garbage: no word of the content, which may be of a transcript. */
export function jsonObject(data: string | Uint8Array): object {
  if (typeof data !== "string") throw new Error("a binary message where a text is due");
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new Error("a message that is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("a message that is not an object");
  return value;
}
