/** Reads WAV files that people upload: PCM with 8, 16 or 24 bits and G.711, mono or stereo (RIFF, WAVE). Pure. */

import { decodeAlaw, decodeMulaw } from "./g711.ts";
import { samplesOfBytes } from "./pcm.ts";

export interface WavSamples {
  /** Mono. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
const FORMAT_BYTES = 16;
/** `fmt ` and `data` come first in files of all usual programs; a file of many tiny chunks must not take long. */
const MAX_CHUNKS = 64;
const RATES_HZ = { least: 8_000, most: 48_000 };
/** `wFormatTag`. The extensible one has the real tag in the first bytes of its subformat. */
const TAG = { pcm: 1, alaw: 6, mulaw: 7, extensible: 0xfffe };
const SUBFORMAT_AT = 24;

interface Format {
  readonly tag: number;
  readonly channels: number;
  readonly sampleRateHz: number;
  readonly bits: number;
}

/**
 * @param mostMs what is longer is left out
 * @throws with a reason that ends a sentence which begins with the file
 */
export function wavSamples(file: Uint8Array, mostMs: number): WavSamples {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const name = (at: number): string => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.byteLength < RIFF_HEADER_BYTES || name(0) !== "RIFF" || name(8) !== "WAVE")
    throw new Error("is no WAV file");
  let format: Format | null = null;
  let at = RIFF_HEADER_BYTES;
  for (let chunks = 0; chunks < MAX_CHUNKS && at + CHUNK_HEADER_BYTES <= file.byteLength; chunks += 1) {
    const start = at + CHUNK_HEADER_BYTES;
    // A writer that does not know the length in advance leaves a wrong one, so the end of the file counts as well.
    const length = Math.min(view.getUint32(at + 4, true), file.byteLength - start);
    if (name(at) === "fmt ") format = formatOf(view, start, length);
    else if (name(at) === "data") {
      if (format === null) throw new Error("has no format before its samples");
      return samplesOf(file.subarray(start, start + length), format, mostMs);
    }
    at = start + length + (length % 2);
  }
  throw new Error("has no samples");
}

function formatOf(view: DataView, at: number, length: number): Format {
  if (length < FORMAT_BYTES) throw new Error("has a format that cannot be read");
  const named = view.getUint16(at, true);
  const isExtensible = named === TAG.extensible && length >= SUBFORMAT_AT + 2;
  const format = {
    tag: isExtensible ? view.getUint16(at + SUBFORMAT_AT, true) : named,
    channels: view.getUint16(at + 2, true),
    sampleRateHz: view.getUint32(at + 4, true),
    bits: view.getUint16(at + 14, true),
  };
  const { tag, channels, sampleRateHz, bits } = format;
  const isKnown = tag === TAG.pcm ? [8, 16, 24].includes(bits) : isCompanded(tag) && bits === 8;
  if (!isKnown) throw new Error("must be PCM with 8, 16 or 24 bits, or G.711");
  if (channels < 1 || channels > 2) throw new Error("must have one or two channels");
  if (sampleRateHz < RATES_HZ.least || sampleRateHz > RATES_HZ.most)
    throw new Error(`must have ${String(RATES_HZ.least)} to ${String(RATES_HZ.most)} samples a second`);
  return format;
}

function isCompanded(tag: number): boolean {
  return tag === TAG.alaw || tag === TAG.mulaw;
}

function samplesOf(data: Uint8Array, format: Format, mostMs: number): WavSamples {
  const { channels, sampleRateHz, bits } = format;
  const frameBytes = (channels * bits) / 8;
  const frames = Math.min(
    Math.floor(data.byteLength / frameBytes),
    Math.floor((mostMs * sampleRateHz) / 1_000),
  );
  const values = valuesOf(data.subarray(0, frames * frameBytes), format);
  if (channels === 1) return { samples: values, sampleRateHz };
  const samples = new Int16Array(frames);
  for (let i = 0; i < frames; i += 1) samples[i] = ((values[2 * i] ?? 0) + (values[2 * i + 1] ?? 0)) / 2;
  return { samples, sampleRateHz };
}

function valuesOf(data: Uint8Array, { tag, bits }: Format): Int16Array {
  if (tag === TAG.alaw) return decodeAlaw(data);
  if (tag === TAG.mulaw) return decodeMulaw(data);
  if (bits === 16) return samplesOfBytes(data).slice();
  const bytes = bits / 8;
  const values = new Int16Array(data.byteLength / bytes);
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let i = 0; i < values.length; i += 1) {
    // Eight bits are unsigned; of more than sixteen the upper ones count.
    values[i] = bits === 8 ? (view.getUint8(i) - 128) << 8 : view.getInt16(i * bytes + bytes - 2, true);
  }
  return values;
}
