/** Reads 16-bit mono PCM WAV files, whatever other chunks they carry. */

import { readFile } from "node:fs/promises";

export interface Clip {
  readonly sampleRateHz: number;
  readonly samples: Int16Array;
}

const PCM = 1;

/** @throws a sentence that names the file when it is not 16-bit mono PCM. */
export async function readClip(file: string): Promise<Clip> {
  const bytes = await readFile(file);
  const chunks = readChunks(bytes);
  const format = chunks.get("fmt ");
  const data = chunks.get("data");
  if (format === undefined || data === undefined || format.length < 16)
    throw new Error(`${file} is not a WAV file.`);
  const [kind, channels, bits] = [format.readUInt16LE(0), format.readUInt16LE(2), format.readUInt16LE(14)];
  if (kind !== PCM || channels !== 1 || bits !== 16) {
    throw new Error(
      `${file} must be 16-bit mono PCM (it has ${String(channels)} channels of ${String(bits)} bits).`,
    );
  }
  const samples = new Int16Array(data.length >> 1);
  for (let i = 0; i < samples.length; i++) samples[i] = data.readInt16LE(i * 2);
  return { sampleRateHz: format.readUInt32LE(4), samples };
}

/** Chunks of a RIFF file by their four letters; a size that runs past the end is cut there. */
function readChunks(bytes: Buffer): Map<string, Buffer> {
  const chunks = new Map<string, Buffer>();
  if (bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WAVE") return chunks;
  for (let offset = 12; offset + 8 <= bytes.length;) {
    const size = bytes.readUInt32LE(offset + 4);
    chunks.set(bytes.toString("latin1", offset, offset + 4), bytes.subarray(offset + 8, offset + 8 + size));
    offset += 8 + size + (size % 2);
  }
  return chunks;
}
