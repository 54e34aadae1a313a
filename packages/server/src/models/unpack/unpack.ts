/** Unpacks the files of a model from a `.tar.bz2` or `.tar.gz`, into a folder and nowhere else. */

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ArchiveError } from "./archive-error.ts";
import { bunzip2 } from "./bunzip2.ts";
import { type ForeignEntry, readForeignTar } from "./read-tar.ts";

export interface UnpackedFile {
  /** Below the folder, with `/`. */
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface UnpackOptions {
  readonly archive: string;
  readonly into: string;
  /** The folder in the archive, whose content is taken. */
  readonly folder: string;
  /** Whether a file is wanted; its name is below that folder. */
  readonly wants: (name: string) => boolean;
  /** Limit of all that is unpacked. */
  readonly maxBytes: number;
}

/** @throws ArchiveError where the archive is damaged, too large, or has a name that points elsewhere */
export async function unpack(options: UnpackOptions): Promise<UnpackedFile[]> {
  const { archive, into, folder, wants, maxBytes } = options;
  const files: UnpackedFile[] = [];
  let total = 0;
  const take = async (entry: ForeignEntry, content: AsyncIterable<Buffer>): Promise<void> => {
    const name = insideOf(folder, entry.name);
    if (name === null || !wants(name)) return;
    if (files.some((file) => file.name === name)) throw new ArchiveError(`it has ${name} twice`);
    total += entry.bytes;
    if (total > maxBytes) throw new ArchiveError(`it has more than ${String(maxBytes)} bytes`);
    files.push(await write(name, join(into, name), content));
  };
  const source = createReadStream(archive);
  try {
    await pipeline(
      source,
      archive.endsWith("gz") ? createGunzip() : bunzip2,
      (plain: AsyncIterable<Buffer>) => readForeignTar(plain, take),
    );
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw code.startsWith("Z_") ? new ArchiveError(`it is damaged (${code})`, { cause: error }) : error;
  }
  return files;
}

/** Null: it is elsewhere, and not wanted. @throws where it points out of the folder */
function insideOf(folder: string, given: string): string | null {
  const name = given.replace(/^\.\//, "");
  const steps = name.split("/");
  if (name.includes("\\") || steps.some((step) => step === ".." || step === ".") || name.startsWith("/"))
    throw new ArchiveError(`it holds the name ${JSON.stringify(name)}, which points to another folder`);
  return name.startsWith(`${folder}/`) && !steps.includes("") ? name.slice(folder.length + 1) : null;
}

async function write(name: string, path: string, content: AsyncIterable<Buffer>): Promise<UnpackedFile> {
  await mkdir(dirname(path), { recursive: true });
  const hash = createHash("sha256");
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(content, counted, createWriteStream(path, { flags: "wx" }));
  return { name, bytes, sha256: hash.digest("hex") };
}
