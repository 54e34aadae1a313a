/** Samples as bytes, in the forms that telephone networks use: G.711 and linear 16-bit in both byte orders. */

import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "./g711.ts";
import { bytesOfSamples, samplesOfBytes } from "./pcm.ts";

export type AudioEncoding = "mulaw" | "alaw" | "s16le" | "s16be";

export interface AudioFormat {
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
}

export function bytesPerSample(encoding: AudioEncoding): 1 | 2 {
  return encoding === "mulaw" || encoding === "alaw" ? 1 : 2;
}

/** The whole samples of `bytes`; of `s16le` a view where the bytes are aligned, otherwise new memory. */
export function decodeAudio(encoding: AudioEncoding, bytes: Uint8Array): Int16Array {
  return DECODERS[encoding](bytes);
}

/** Of `s16le` a view of `samples`, otherwise new memory. */
export function encodeAudio(encoding: AudioEncoding, samples: Int16Array): Uint8Array {
  return ENCODERS[encoding](samples);
}

const DECODERS: Readonly<Record<AudioEncoding, (bytes: Uint8Array) => Int16Array>> = {
  mulaw: decodeMulaw,
  alaw: decodeAlaw,
  s16le: (bytes) => samplesOfBytes(bytes),
  s16be: (bytes) => samplesOfBytes(swapped(bytes)),
};

const ENCODERS: Readonly<Record<AudioEncoding, (samples: Int16Array) => Uint8Array>> = {
  mulaw: encodeMulaw,
  alaw: encodeAlaw,
  s16le: bytesOfSamples,
  s16be: (samples) => swapped(bytesOfSamples(samples)),
};

/** Each pair of bytes exchanged; an odd last byte is left out. */
function swapped(bytes: Uint8Array): Uint8Array {
  const count = bytes.length - (bytes.length % 2);
  const other = new Uint8Array(count);
  for (let i = 0; i < count; i += 2) {
    other[i] = bytes[i + 1]!;
    other[i + 1] = bytes[i]!;
  }
  return other;
}
