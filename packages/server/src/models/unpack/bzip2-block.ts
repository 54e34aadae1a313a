/** One block of bzip2: Huffman codes, move to front, the Burrows-Wheeler transform and runs, undone in this order. */

import { ArchiveError } from "./archive-error.ts";
import type { BitReader } from "./bit-reader.ts";

const GROUP_SYMBOLS = 50;
const MAX_CODE_BITS = 20;
/** Of a chunk that is passed on. */
const CHUNK_BYTES = 65_536;

interface Codes {
  readonly shortest: number;
  /** By length: the highest code, or -1. */
  readonly limits: Int32Array;
  /** By length: what a code is reduced by to be a place in `symbols`. */
  readonly bases: Int32Array;
  readonly symbols: Uint16Array;
}

const damaged = (): ArchiveError => new ArchiveError("it is damaged");

export function* readBlock(reader: BitReader, maxSymbols: number): Generator<Buffer> {
  if (reader.bit() === 1) throw new ArchiveError("it was made by a version of bzip2 that is too old");
  const origin = reader.bits(24);
  const used = usedBytes(reader);
  const tables = readTables(reader, used.length + 2);
  const { links, length } = readSymbols(reader, used, tables, maxSymbols);
  if (origin >= length) throw damaged();
  yield* withoutRuns(links, length, origin);
}

function usedBytes(reader: BitReader): Uint8Array {
  const groups = reader.bits(16);
  const used: number[] = [];
  for (let group = 0; group < 16; group += 1) {
    if ((groups & (0x80_00 >> group)) === 0) continue;
    const inside = reader.bits(16);
    for (let byte = 0; byte < 16; byte += 1)
      if ((inside & (0x80_00 >> byte)) !== 0) used.push(group * 16 + byte);
  }
  if (used.length === 0) throw damaged();
  return Uint8Array.from(used);
}

interface Tables {
  readonly codes: readonly Codes[];
  /** Which codes each group of symbols uses. */
  readonly selectors: Uint8Array;
}

function readTables(reader: BitReader, alphabet: number): Tables {
  const count = reader.bits(3);
  const selectorCount = reader.bits(15);
  if (count < 2 || count > 6 || selectorCount === 0) throw damaged();
  const order = Array.from({ length: count }, (_, index) => index);
  const selectors = new Uint8Array(selectorCount);
  for (let index = 0; index < selectorCount; index += 1) {
    let place = 0;
    while (reader.bit() === 1) place += 1;
    const [selected] = order.splice(place, 1);
    if (selected === undefined) throw damaged();
    order.unshift(selected);
    selectors[index] = selected;
  }
  return { selectors, codes: Array.from({ length: count }, () => codesOf(readLengths(reader, alphabet))) };
}

function readLengths(reader: BitReader, alphabet: number): Uint8Array {
  const lengths = new Uint8Array(alphabet);
  let length = reader.bits(5);
  for (let symbol = 0; symbol < alphabet; symbol += 1) {
    for (;;) {
      if (length < 1 || length > MAX_CODE_BITS) throw damaged();
      if (reader.bit() === 0) break;
      length += reader.bit() === 0 ? 1 : -1;
    }
    lengths[symbol] = length;
  }
  return lengths;
}

function codesOf(lengths: Uint8Array): Codes {
  const symbols = new Uint16Array(lengths.length);
  const limits = new Int32Array(MAX_CODE_BITS + 1).fill(-1);
  const bases = new Int32Array(MAX_CODE_BITS + 1);
  let [code, placed, shortest] = [0, 0, 0];
  for (let length = 1; length <= MAX_CODE_BITS; length += 1) {
    bases[length] = code - placed;
    const before = placed;
    for (const [symbol, own] of lengths.entries()) if (own === length) symbols[placed++] = symbol;
    code += placed - before;
    if (placed > before) {
      limits[length] = code - 1;
      if (shortest === 0) shortest = length;
    }
    code <<= 1;
  }
  return { shortest, limits, bases, symbols };
}

function readSymbol(reader: BitReader, { shortest, limits, bases, symbols }: Codes): number {
  let length = shortest;
  let code = reader.bits(shortest);
  while (code > (limits[length] ?? -1)) {
    length += 1;
    if (length > MAX_CODE_BITS) throw damaged();
    code = (code << 1) | reader.bit();
  }
  return symbols[code - (bases[length] ?? 0)] ?? 0;
}

interface Transformed {
  /** In the low 8 bits the bytes of the block; above them, for each place, the place of the byte that follows. */
  readonly links: Uint32Array;
  readonly length: number;
}

function readSymbols(reader: BitReader, used: Uint8Array, tables: Tables, maxSymbols: number): Transformed {
  const { codes, selectors } = tables;
  const front = Uint8Array.from(used);
  const links = new Uint32Array(maxSymbols);
  const counts = new Uint32Array(256);
  const end = used.length + 1;
  let length = 0;
  const add = (byte: number, times: number): void => {
    if (length + times > maxSymbols) throw damaged();
    links.fill(byte, length, length + times);
    counts[byte] = (counts[byte] ?? 0) + times;
    length += times;
  };
  let [run, weight] = [0, 1];
  for (let index = 0; ; index += 1) {
    const group = codes[selectors[Math.floor(index / GROUP_SYMBOLS)] ?? codes.length];
    if (group === undefined) throw damaged();
    const symbol = readSymbol(reader, group);
    if (symbol <= 1) {
      run += weight << symbol;
      weight <<= 1;
      if (run > maxSymbols) throw damaged();
      continue;
    }
    if (run > 0) {
      add(front[0] ?? 0, run);
      [run, weight] = [0, 1];
    }
    if (symbol === end) break;
    const byte = front[symbol - 1] ?? 0;
    front.copyWithin(1, 0, symbol - 1);
    front[0] = byte;
    add(byte, 1);
  }
  link(links, length, counts);
  return { links, length };
}

function link(links: Uint32Array, length: number, counts: Uint32Array): void {
  const starts = new Uint32Array(256);
  let sum = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    starts[byte] = sum;
    sum += counts[byte] ?? 0;
  }
  for (let index = 0; index < length; index += 1) {
    const byte = (links[index] ?? 0) & 0xff;
    const place = starts[byte] ?? 0;
    starts[byte] = place + 1;
    links[place] = (links[place] ?? 0) | (index << 8);
  }
}

/** Four equal bytes are followed by the count of further ones. */
function* withoutRuns(links: Uint32Array, length: number, origin: number): Generator<Buffer> {
  let chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let filled = 0;
  let place = (links[origin] ?? 0) >>> 8;
  let [last, equal] = [-1, 0];
  for (let index = 0; index < length; index += 1) {
    const entry = links[place] ?? 0;
    const byte = entry & 0xff;
    place = entry >>> 8;
    let times = 1;
    if (equal === 4) {
      times = byte;
      equal = 0;
    } else {
      equal = byte === last ? equal + 1 : 1;
      last = byte;
    }
    for (; times > 0; times -= 1) {
      chunk[filled] = last;
      filled += 1;
      if (filled < CHUNK_BYTES) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      filled = 0;
    }
    if (equal === 0) last = -1;
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
