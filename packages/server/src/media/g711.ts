/**
 * G.711 mu-law and A-law: 8 kHz speech with 8 bits per sample. ITU-T G.711, tables 1a to 2b: the sign, a segment of 3
 * bits and a step of 4 bits. Mu-law inverts all of them, A-law every second one. Samples are 16-bit here and 14-bit
 * (mu-law) or 13-bit (A-law) there: each value of the tables times 4 or 8.
 */

/** Each segment of mu-law begins at 2^segment of it, less the bias (33 in the tables). */
const BIAS = 33 * 4;
/** The largest sample that is not cut in mu-law: 8158 in the tables. */
const CLIP = 32_635;
/** Of silence, as sent when there is nothing to play. */
export const MULAW_SILENCE = 0xff;
export const ALAW_SILENCE = 0xd5;
/** The bits that A-law inverts. */
const ALAW_EVEN_BITS = 0x55;

const MULAW_DECODED = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 7;
  const magnitude = ((((bits & 15) << 3) + BIAS) << segment) - BIAS;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
});

const ALAW_DECODED = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = code ^ ALAW_EVEN_BITS;
  const segment = (bits >> 4) & 7;
  // The middle of its interval; segments 0 and 1 have steps of the same width.
  const step = ((bits & 15) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
});

export function decodeMulaw(bytes: Uint8Array): Int16Array {
  return decoded(bytes, MULAW_DECODED);
}

export function decodeAlaw(bytes: Uint8Array): Int16Array {
  return decoded(bytes, ALAW_DECODED);
}

export function encodeMulaw(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) bytes[i] = mulawOf(samples[i]!);
  return bytes;
}

export function encodeAlaw(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) bytes[i] = alawOf(samples[i]!);
  return bytes;
}

function decoded(bytes: Uint8Array, table: Int16Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i += 1) samples[i] = table[bytes[i]!]!;
  return samples;
}

function mulawOf(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(sample), CLIP) + BIAS;
  // The highest bit set is between 7 (the bias) and 14.
  const segment = 24 - Math.clz32(biased);
  const step = (biased >> (segment + 3)) & 15;
  return ~(sign | (segment << 4) | step) & 0xff;
}

function alawOf(sample: number): number {
  const sign = sample < 0 ? 0 : 0x80;
  // The table has no zero: the interval next to it belongs to each side.
  const magnitude = (sample < 0 ? -sample - 1 : sample) >> 4;
  // The highest bit set is between 4 (segment 1) and 10.
  const segment = magnitude < 16 ? 0 : 28 - Math.clz32(magnitude);
  const step = segment < 2 ? magnitude & 15 : (magnitude >> (segment - 1)) & 15;
  return (sign | (segment << 4) | step) ^ ALAW_EVEN_BITS;
}
