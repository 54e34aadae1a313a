/** Audio as vendors send it, in base64 or as bytes: pieces of any length, also cut in the middle of a sample. */

import type { TtsPart } from "../../ports/tts.ts";
import { decodeMulaw } from "../../media/g711.ts";
import { samplesOfBytes } from "../../media/pcm.ts";

export interface AudioFormat {
  readonly encoding: "pcm_s16le" | "mulaw";
  readonly sampleRateHz: number;
}

/** Ten minutes of 24 kHz audio; a request has one sentence. */
export const MAX_AUDIO_BYTES = 32 * 1_024 * 1_024;
/** Audio per part, so that a vendor that sends a sentence at once does not block the event loop of the reader. */
const MAX_PART_MS = 200;

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Both alphabets, with padding or without. Throws for anything else, which must not be heard as noise. */
export function bytesOfBase64(text: string): Uint8Array {
  if (!BASE64.test(text) || text.replace(/=+$/, "").length % 4 === 1)
    throw new Error("audio that is no base64");
  return Buffer.from(text, "base64");
}

export type AudioPart = TtsPart & { readonly type: "audio" };

/** The audio of one request. */
export class AudioFrames {
  readonly #format: AudioFormat;
  readonly #maxBytes: number;
  #odd: number | null = null;
  #bytes = 0;
  #samples = 0;

  constructor(format: AudioFormat, maxBytes = MAX_AUDIO_BYTES) {
    this.#format = format;
    this.#maxBytes = maxBytes;
  }

  /** Length of what has come so far. */
  get durationMs(): number {
    return (this.#samples * 1_000) / this.#format.sampleRateHz;
  }

  /** Parts of at most `MAX_PART_MS`; none while a sample is not complete. Throws beyond the limit of bytes. */
  push(data: string | Uint8Array): AudioPart[] {
    const samples = this.#decode(typeof data === "string" ? bytesOfBase64(data) : data);
    this.#samples += samples.length;
    const { sampleRateHz } = this.#format;
    const length = Math.floor((MAX_PART_MS * sampleRateHz) / 1_000);
    const parts: AudioPart[] = [];
    for (let start = 0; start < samples.length; start += length)
      parts.push({ type: "audio", samples: samples.subarray(start, start + length), sampleRateHz });
    return parts;
  }

  #decode(bytes: Uint8Array): Int16Array {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#maxBytes) throw new Error(`more than ${String(this.#maxBytes)} bytes of audio`);
    if (this.#format.encoding === "mulaw") return decodeMulaw(bytes);
    let whole = bytes;
    if (this.#odd !== null && bytes.length > 0) {
      whole = new Uint8Array(bytes.length + 1);
      whole[0] = this.#odd;
      whole.set(bytes, 1);
      this.#odd = null;
    }
    if (whole.length % 2 === 1) this.#odd = whole.at(-1) ?? null;
    return samplesOfBytes(whole);
  }
}

/** The lowest of `rates` that is not below `wantedHz`, or else the highest. */
export function nearestRate(rates: readonly number[], wantedHz: number): number {
  const ascending = [...rates].sort((a, b) => a - b);
  const found = ascending.find((rate) => rate >= wantedHz) ?? ascending.at(-1);
  if (found === undefined) throw new RangeError("no rates");
  return found;
}
