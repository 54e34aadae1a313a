/** WAV files of mono and stereo s16, as other programs read and write them. */

import { readFileSync } from "node:fs";

const HEADER_BYTES = 44;

/** Mono. The parts follow one another. */
export function wavFile(parts: readonly Int16Array[], rateHz: number): Buffer {
  const bytes = parts.reduce((sum, part) => sum + part.byteLength, 0);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(HEADER_BYTES - 8 + bytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE(2 * rateHz, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(bytes, 40);
  return Buffer.concat([
    header,
    ...parts.map((part) => Buffer.from(part.buffer, part.byteOffset, part.byteLength)),
  ]);
}

/** The first channel, at the rate of the file. @throws for another kind of file */
export function wavSamples(path: string): { readonly samples: Int16Array; readonly rateHz: number } {
  const file = readFileSync(path);
  if (file.toString("latin1", 0, 4) !== "RIFF") throw new Error(`${path} is not a WAV file`);
  let format: { channels: number; rateHz: number } | null = null;
  for (let at = 12; at + 8 <= file.length;) {
    const [tag, size, body] = [file.toString("latin1", at, at + 4), file.readUInt32LE(at + 4), at + 8];
    if (tag === "fmt ") {
      if (file.readUInt16LE(body) !== 1 || file.readUInt16LE(body + 14) !== 16) {
        throw new Error(`${path} is not s16`);
      }
      format = { channels: file.readUInt16LE(body + 2), rateHz: file.readUInt32LE(body + 4) };
    }
    if (tag === "data" && format !== null) {
      const step = 2 * format.channels;
      const count = Math.floor(Math.min(size, file.length - body) / step);
      const samples = Int16Array.from({ length: count }, (_, n) => file.readInt16LE(body + n * step));
      return { samples, rateHz: format.rateHz };
    }
    at = body + size + (size % 2);
  }
  throw new Error(`${path} has no audio`);
}
