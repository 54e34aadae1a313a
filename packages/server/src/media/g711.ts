/**
 * G.711 mu-law: 8 kHz speech with 8 bits per sample. ITU-T G.711, tables 2a and 2b: the sign, a segment of 3 bits and a
 * step of 4 bits, all inverted. Samples are 16-bit here and 14-bit there: each value of the tables times 4.
 */

/** Each segment begins at 2^segment of it, less the bias (33 in the tables). */
const BIAS = 33 * 4;
/** The largest sample that is not cut: 8158 in the tables. */
const CLIP = 32_635;
/** Of silence, as sent when there is nothing to play. */
export const MULAW_SILENCE = 0xff;

const DECODED = Int16Array.from({ length: 256 }, (_, code) => {
  const bits = ~code & 0xff;
  const segment = (bits >> 4) & 7;
  const magnitude = ((((bits & 15) << 3) + BIAS) << segment) - BIAS;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
});

export function decodeMulaw(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i += 1) samples[i] = DECODED[bytes[i]!]!;
  return samples;
}

export function encodeMulaw(samples: Int16Array): Uint8Array {
  const bytes = new Uint8Array(samples.length);
  for (let i = 0; i < samples.length; i += 1) bytes[i] = encodeSample(samples[i]!);
  return bytes;
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const biased = Math.min(Math.abs(sample), CLIP) + BIAS;
  // The highest bit set is between 7 (the bias) and 14.
  const segment = 24 - Math.clz32(biased);
  const step = (biased >> (segment + 3)) & 15;
  return ~(sign | (segment << 4) | step) & 0xff;
}
