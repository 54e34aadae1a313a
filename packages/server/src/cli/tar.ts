/** Reads and writes tar files (POSIX ustar) with directories and plain files only. */

import { Buffer } from "node:buffer";

const BLOCK_BYTES = 512;
/** Eleven octal digits. */
const MAX_FILE_BYTES = 8 ** 11 - 1;
const MAX_NAME_BYTES = 100;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

export interface TarEntry {
  /** Relative, with `/`; of a directory without one at the end. */
  readonly name: string;
  readonly kind: "file" | "directory";
  /** 0 for a directory. */
  readonly bytes: number;
}

export class TarError extends Error {
  override readonly name = "TarError";
}

export function tarHeader({ name, kind, bytes }: TarEntry): Buffer {
  const written = kind === "directory" ? `${name}/` : name;
  if (Buffer.byteLength(written) > MAX_NAME_BYTES) throw new TarError(`the name ${name} is too long`);
  if (bytes > MAX_FILE_BYTES) throw new TarError(`the file ${name} is too large`);
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(`${value.toString(8).padStart(digits, "0")}\0`, at, "latin1");
  };
  header.write(written, 0, "utf8");
  octal(kind === "directory" ? DIRECTORY_MODE : FILE_MODE, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(bytes, 124, 11);
  octal(0, 136, 11);
  header.write(kind === "directory" ? "5" : "0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  header.write(`${checksumOf(header).toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** The padding after the content of a file, up to a whole block. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

export const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/** The sum of all bytes, with spaces in the place of the sum itself. */
function checksumOf(header: Buffer): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);
}

/**
 * Calls `take` for each entry in order, with its content, which must be read to its end before `take` resolves.
 * @throws TarError when the stream is not such a tar file, or ends too early.
 */
export async function readTar(
  source: AsyncIterable<Buffer>,
  take: (entry: TarEntry, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const reader = new BlockReader(source);
  for (;;) {
    const header = Buffer.concat(await collect(reader.take(BLOCK_BYTES)));
    if (header.every((byte) => byte === 0)) return;
    const entry = entryOf(header);
    await take(entry, reader.take(entry.bytes));
    await collect(reader.take(tarPadding(entry.bytes).byteLength));
  }
}

function entryOf(header: Buffer): TarEntry {
  const text = (from: number, length: number): string =>
    header.toString("utf8", from, from + length).replace(/\0.*$/s, "");
  const octal = (from: number, length: number): number => Number.parseInt(text(from, length).trim(), 8);
  if (text(257, 5) !== "ustar" || octal(148, 8) !== checksumOf(header))
    throw new TarError("it is not a tar file");
  const type = text(156, 1);
  if (type !== "0" && type !== "5")
    throw new TarError("it contains an entry that is neither a file nor a folder");
  const kind = type === "5" ? "directory" : "file";
  return { name: text(0, 100).replace(/\/$/, ""), kind, bytes: octal(124, 12) };
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<Buffer[]> {
  const result: Buffer[] = [];
  for await (const chunk of chunks) result.push(chunk);
  return result;
}

class BlockReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async *take(bytes: number): AsyncGenerator<Buffer> {
    for (let left = bytes; left > 0;) {
      if (this.#rest.byteLength === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) throw new TarError("it ends too early");
        this.#rest = next.value;
      }
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.byteLength);
      left -= chunk.byteLength;
      yield chunk;
    }
  }
}
