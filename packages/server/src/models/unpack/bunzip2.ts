/** Decompresses bzip2, which Node does not, and checks its checksums. */

import { ArchiveError } from "./archive-error.ts";
import { BitReader } from "./bit-reader.ts";
import { readBlock } from "./bzip2-block.ts";

const BLOCK_MAGIC = [0x31_41_59, 0x26_53_59] as const;
const END_MAGIC = [0x17_72_45, 0x38_50_90] as const;
/** A block has at most 900,000 symbols of 20 bits, and 20 KB of tables. */
const MAX_BLOCK_BYTES = 2_400_000;

/** @throws ArchiveError where the bytes are not a whole bzip2 file */
export async function* bunzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const reader = new BitReader(source);
  for (let streams = 0; await reader.fill(MAX_BLOCK_BYTES); streams += 1) {
    const isHeader = reader.bits(24) === 0x42_5a_68;
    const level = reader.bits(8) - 0x30;
    if (!isHeader || level < 1 || level > 9)
      throw new ArchiveError(streams === 0 ? "it is not a bzip2 file" : "something follows its end");
    yield* blocksOf(reader, level * 100_000);
    reader.align();
  }
}

async function* blocksOf(reader: BitReader, maxSymbols: number): AsyncGenerator<Buffer> {
  let combined = 0;
  for (;;) {
    await reader.fill(MAX_BLOCK_BYTES);
    const magic = [reader.bits(24), reader.bits(24)];
    const expected = reader.uint32();
    if (magic[0] === END_MAGIC[0] && magic[1] === END_MAGIC[1]) {
      if (combined !== expected) throw new ArchiveError("its checksum is wrong");
      return;
    }
    if (magic[0] !== BLOCK_MAGIC[0] || magic[1] !== BLOCK_MAGIC[1]) throw new ArchiveError("it is damaged");
    let crc = 0xff_ff_ff_ff;
    for (const chunk of readBlock(reader, maxSymbols)) {
      crc = crcOf(chunk, crc);
      yield chunk;
    }
    crc = ~crc >>> 0;
    if (crc !== expected) throw new ArchiveError("its checksum is wrong");
    combined = (((combined << 1) | (combined >>> 31)) ^ crc) >>> 0;
  }
}

const CRC_TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) crc = crc < 0 ? (crc << 1) ^ 0x04_c1_1d_b7 : crc << 1;
  return crc;
});

function crcOf(bytes: Buffer, before: number): number {
  let crc = before | 0;
  for (const byte of bytes) crc = (crc << 8) ^ (CRC_TABLE[((crc >>> 24) ^ byte) & 0xff] ?? 0);
  return crc;
}
