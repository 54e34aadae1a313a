/** The 44-byte header of a 16-bit PCM WAV file (RIFF, WAVE_FORMAT_PCM). */

export const WAV_HEADER_BYTES = 44;

const SAMPLE_BYTES = 2;
const PCM_FORMAT = 1;
/** The size fields are unsigned 32-bit; a longer file says the most that fits (6 hours of 16 kHz stereo are 1.4 GB). */
const LARGEST_SIZE = 0xffff_ffff;

export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
}

/** @param dataBytes length of the samples that follow the header */
export function wavHeader(format: WavFormat, dataBytes: number): Uint8Array {
  const header = new DataView(new ArrayBuffer(WAV_HEADER_BYTES));
  const text = (offset: number, value: string) => {
    for (let i = 0; i < value.length; i += 1) header.setUint8(offset + i, value.charCodeAt(i));
  };
  const blockBytes = format.channels * SAMPLE_BYTES;
  text(0, "RIFF");
  header.setUint32(4, Math.min(dataBytes + WAV_HEADER_BYTES - 8, LARGEST_SIZE), true);
  text(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, PCM_FORMAT, true);
  header.setUint16(22, format.channels, true);
  header.setUint32(24, format.sampleRateHz, true);
  header.setUint32(28, format.sampleRateHz * blockBytes, true);
  header.setUint16(32, blockBytes, true);
  header.setUint16(34, SAMPLE_BYTES * 8, true);
  text(36, "data");
  header.setUint32(40, Math.min(dataBytes, LARGEST_SIZE - WAV_HEADER_BYTES), true);
  return new Uint8Array(header.buffer);
}

/** Reads a header written by `wavHeader`; null when it is none. */
export function parseWavHeader(bytes: Uint8Array): (WavFormat & { readonly dataBytes: number }) | null {
  if (bytes.byteLength < WAV_HEADER_BYTES) return null;
  const header = new DataView(bytes.buffer, bytes.byteOffset, WAV_HEADER_BYTES);
  const text = (offset: number, length: number) =>
    String.fromCharCode(...bytes.subarray(offset, offset + length));
  if (text(0, 4) !== "RIFF" || text(8, 8) !== "WAVEfmt " || text(36, 4) !== "data") return null;
  if (header.getUint16(20, true) !== PCM_FORMAT || header.getUint16(34, true) !== SAMPLE_BYTES * 8)
    return null;
  return {
    sampleRateHz: header.getUint32(24, true),
    channels: header.getUint16(22, true),
    dataBytes: header.getUint32(40, true),
  };
}
