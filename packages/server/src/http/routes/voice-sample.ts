/** Reads of a file whether it is a recording that a voice can be made from, and how long it is. */

import type { VoiceRecording } from "../../ports/voice-cloning.ts";

export interface VoiceSample extends VoiceRecording {
  /** Null: its audio cannot be read. */
  readonly durationMs: number | null;
}

/** Null: neither MP3 nor WAV. */
export function voiceSampleOf(bytes: Uint8Array): VoiceSample | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = (at: number, length: number): string => view.toString("latin1", at, at + length);
  if (mark(0, 4) === "RIFF" && mark(8, 4) === "WAVE")
    return { bytes, mediaType: "audio/wav", durationMs: wavDurationMs(view) };
  if (mark(0, 3) === "ID3" || beginsMp3Frame(view))
    return { bytes, mediaType: "audio/mpeg", durationMs: mp3DurationMs(view) };
  return null;
}

/** ISO/IEC 11172-3: eleven set bits, a version that is not reserved, layer III. */
function beginsMp3Frame([first = 0, second = 0]: Uint8Array): boolean {
  const version = (second >> 3) & 0b11;
  const layer = (second >> 1) & 0b11;
  return first === 0xff && (second & 0xe0) === 0xe0 && version !== 0b01 && layer === 0b01;
}

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** Where `fmt ` has its bytes per second. */
const BYTE_RATE_OFFSET = 8;
/** Chunks before the audio; recorders write a few. */
const MAX_CHUNKS = 64;

/** The bytes of audio that are there: recorders that stream write no length, or the greatest. */
function wavDurationMs(file: Buffer): number | null {
  let bytesPerS: number | null = null;
  let at = RIFF_HEADER_BYTES;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + CHUNK_HEADER_BYTES <= file.length; chunk += 1) {
    const id = file.toString("latin1", at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const start = at + CHUNK_HEADER_BYTES;
    if (id === "fmt " && start + BYTE_RATE_OFFSET + 4 <= file.length)
      bytesPerS = file.readUInt32LE(start + BYTE_RATE_OFFSET);
    if (id === "data") {
      if (bytesPerS === null || bytesPerS === 0) return null;
      const there = file.length - start;
      return (Math.min(size === 0 ? there : size, there) * 1_000) / bytesPerS;
    }
    at = start + size + (size % 2);
  }
  return null;
}

/** Of layer III, in kbit/s, by the four bits of a frame's header: MPEG 1, and MPEG 2 with 2.5. */
const MPEG1_KBITS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320] as const;
const MPEG2_KBITS = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160] as const;
/** Of MPEG 1; MPEG 2 has half of it, MPEG 2.5 a quarter. */
const MPEG1_RATES_HZ = [44_100, 48_000, 32_000] as const;

const ID3_HEADER_BYTES = 10;
/** Bytes between frames that are left out; players do the same with a damaged file. */
const MAX_JUNK_BYTES = 65_536;

interface Frame {
  readonly bytes: number;
  readonly ms: number;
}

/** The sum of all frames, because the rate may change from one to the next. */
function mp3DurationMs(file: Buffer): number | null {
  let at = firstFrameOffset(file);
  let junk = 0;
  let ms = 0;
  while (at + 4 <= file.length && junk < MAX_JUNK_BYTES) {
    const frame = mp3Frame(file.readUInt32BE(at));
    if (frame === null) {
      at += 1;
      junk += 1;
    } else {
      at += frame.bytes;
      ms += frame.ms;
    }
  }
  return ms === 0 ? null : ms;
}

/** After an ID3v2 tag, whose size has seven bits in each of four bytes. */
function firstFrameOffset(file: Buffer): number {
  if (file.toString("latin1", 0, 3) !== "ID3" || file.length < ID3_HEADER_BYTES) return 0;
  let size = 0;
  for (const byte of file.subarray(6, ID3_HEADER_BYTES)) size = size * 128 + (byte & 0x7f);
  return ID3_HEADER_BYTES + size;
}

function mp3Frame(header: number): Frame | null {
  const version = (header >>> 19) & 0b11;
  const layer = (header >>> 17) & 0b11;
  if (header >>> 21 !== 0x7ff || version === 0b01 || layer !== 0b01) return null;
  const isMpeg1 = version === 0b11;
  const kbits = (isMpeg1 ? MPEG1_KBITS : MPEG2_KBITS)[(header >>> 12) & 0b1111] ?? 0;
  const rate = MPEG1_RATES_HZ[(header >>> 10) & 0b11];
  if (kbits === 0 || rate === undefined) return null;
  const rateHz = isMpeg1 ? rate : version === 0b10 ? rate / 2 : rate / 4;
  const samples = isMpeg1 ? 1_152 : 576;
  const padding = (header >>> 9) & 1;
  return {
    bytes: Math.floor((samples / 8) * ((kbits * 1_000) / rateHz)) + padding,
    ms: (samples * 1_000) / rateHz,
  };
}
