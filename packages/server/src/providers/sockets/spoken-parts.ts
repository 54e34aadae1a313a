/** One sentence of a vendor: the parts of the port made of its audio and its times of words. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { TtsPart } from "../../ports/tts.ts";
import { mustSound } from "../spoken-text.ts";
import { AudioFrames, type AudioFormat } from "./audio-frames.ts";
import { WordTimes } from "./word-times.ts";

/** What one message of a vendor has of a sentence. */
export interface SpokenPiece {
  /** Base64 or bytes, cut anywhere. */
  readonly audio?: string | Uint8Array;
  /** Notes the words of this message. `audioMs`: the length of the audio that came in earlier messages. */
  readonly words?: (times: WordTimes, audioMs: number) => void;
}

/** Words are given after the audio into which they point. */
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

  /** Throws `EngineFailure` for what is not audio. */
  async *take({ audio, words }: SpokenPiece): AsyncGenerator<TtsPart, void, undefined> {
    words?.(this.#words, this.durationMs);
    if (audio !== undefined) {
      for (const [index, part] of this.#decoded(audio).entries()) {
        // A vendor may send a sentence at once; others get their turn between its parts.
        if (index > 0) await nextTurn();
        yield part;
      }
    }
    yield* this.#words.within(this.durationMs);
  }

  /** The words that are left. Throws where a text that can be spoken had no audio. */
  *end(): Generator<TtsPart, void, undefined> {
    if (this.durationMs > 0) yield* this.#words.rest(this.durationMs);
    else if (mustSound(this.#text))
      throw new EngineFailure(`${this.#vendor} answered no audio`, { type: "no_audio" });
  }

  #decoded(data: string | Uint8Array): readonly TtsPart[] {
    try {
      return this.#audio.push(data);
    } catch (error) {
      throw new EngineFailure(`${this.#vendor} sent ${messageOf(error)}`, { cause: error, type: "garbage" });
    }
  }
}
