/**
 * Reads a tar file of others: POSIX (ustar and pax) and GNU. Only names and contents of files are taken; links, devices
 * and rights are ignored.
 */

import { ArchiveError } from "./archive-error.ts";

const BLOCK_BYTES = 512;
/** Of the long name of a file. */
const MAX_NAME_BYTES = 4_096;
/** More entries than the models of the catalogue have by far: 400. */
const MAX_ENTRIES = 20_000;

export interface ForeignEntry {
  /** As it is in the archive: it may point anywhere. */
  readonly name: string;
  readonly bytes: number;
}

/** Takes the content of a file, or leaves it: then it is skipped. */
export type TakeEntry = (entry: ForeignEntry, content: AsyncIterable<Buffer>) => Promise<void>;

/** @throws ArchiveError when the bytes are not a whole tar file */
export async function readForeignTar(source: AsyncIterable<Buffer>, take: TakeEntry): Promise<void> {
  const blocks = new Blocks(source);
  let longName: string | null = null;
  for (let entries = 0; ; entries += 1) {
    if (entries > MAX_ENTRIES) throw new ArchiveError("it has too many entries");
    const header = await blocks.read(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    const { name, bytes, type } = headerOf(header);
    if (type === "L" || type === "x") {
      if (bytes > MAX_NAME_BYTES) throw new ArchiveError("it has a name that is too long");
      const content = await blocks.read(bytes);
      await blocks.skip(paddingOf(bytes));
      longName =
        type === "L" ? content.toString("utf8").replace(/\0.*$/s, "") : (paxPath(content) ?? longName);
      continue;
    }
    const content = blocks.take(bytes);
    if (type === "0" || type === "\0" || type === "") await take({ name: longName ?? name, bytes }, content);
    for await (const _ of content);
    await blocks.skip(paddingOf(bytes));
    longName = null;
  }
  // The end of the stream may hold a checksum, which is compared where it is read.
  await blocks.drain();
}

function headerOf(header: Buffer): ForeignEntry & { readonly type: string } {
  const text = (from: number, length: number): string =>
    header.toString("utf8", from, from + length).replace(/\0.*$/s, "");
  const octal = (from: number, length: number): number => {
    const digits = text(from, length).trim();
    return /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.NaN;
  };
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (octal(148, 8) !== sum) throw new ArchiveError("it is not a tar file");
  const bytes = octal(124, 12);
  if (Number.isNaN(bytes)) throw new ArchiveError("it has an entry of unknown size");
  const prefix = text(257, 6) === "ustar" ? text(345, 155) : "";
  const name = text(0, 100);
  return { name: prefix === "" ? name : `${prefix}/${name}`, bytes, type: text(156, 1) };
}

/** Lines such as `30 path=folder/name`; null: no path. */
function paxPath(content: Buffer): string | null {
  const found = /^\d+ path=(.*)$/m.exec(content.toString("utf8"));
  return found?.[1] ?? null;
}

function paddingOf(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

class Blocks {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async *take(bytes: number): AsyncGenerator<Buffer> {
    let left = bytes;
    try {
      while (left > 0) {
        const chunk = await this.#next(left);
        left -= chunk.length;
        yield chunk;
      }
    } finally {
      // A reader may stop early.
      while (left > 0) left -= (await this.#next(left)).length;
    }
  }

  async read(bytes: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for await (const part of this.take(bytes)) parts.push(part);
    return Buffer.concat(parts);
  }

  async skip(bytes: number): Promise<void> {
    for await (const _ of this.take(bytes));
  }

  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }

  async #next(most: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new ArchiveError("it ends too early");
      this.#rest = next.value;
    }
    const chunk = this.#rest.subarray(0, most);
    this.#rest = this.#rest.subarray(chunk.length);
    return chunk;
  }
}
