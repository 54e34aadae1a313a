/** The backup file: a compressed tar file whose last entry, the manifest, lists all others with their checksums. */

import { createHash, randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { CommandError } from "./command.ts";
import { readTar, TAR_END, TarError, type TarEntry, tarHeader, tarPadding } from "./tar.ts";

const FORMAT = "parley backup 1";
const MANIFEST = "manifest.json";
const OWNER_ONLY = 0o600;
/** Limit of the manifest: 100 bytes a file, enough for a million recordings. */
const MAX_MANIFEST_BYTES = 200 * 1024 * 1024;

export interface BackupManifest {
  readonly format: typeof FORMAT;
  /** ISO 8601 UTC. */
  readonly created: string;
  /** Of the program that wrote it. */
  readonly version: string;
  /** By name; without folders. */
  readonly files: Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>;
}

/**
 * Writes the files under `names` of `root`; missing ones are left out. The file appears when it is complete.
 * @throws CommandError when the file exists already.
 */
export async function writeBackup(
  path: string,
  root: string,
  names: readonly string[],
  version: string,
): Promise<BackupManifest> {
  const files: Record<string, { bytes: number; sha256: string }> = {};
  const manifest: BackupManifest = { format: FORMAT, created: new Date().toISOString(), version, files };
  const aside = `${path}.${randomUUID()}.tmp`;
  // Reserves the name, so that no other file is overwritten.
  const claimed = await open(path, "wx", OWNER_ONLY).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === "EEXIST" ? "the file exists already" : error.message;
    throw new CommandError(`The backup cannot be written to ${path}: ${reason}.`);
  });
  await claimed.close();
  try {
    const target = createWriteStream(aside, { flags: "wx", mode: OWNER_ONLY, flush: true });
    await pipeline(Readable.from(blocksOf(root, names, manifest, files)), createGzip(), target);
    await rename(aside, path);
    return manifest;
  } catch (error) {
    await rm(aside, { force: true });
    await rm(path, { force: true });
    if (error instanceof TarError) throw new CommandError(`The backup cannot be written: ${error.message}.`);
    throw error;
  }
}

async function* blocksOf(
  root: string,
  names: readonly string[],
  manifest: BackupManifest,
  files: Record<string, { bytes: number; sha256: string }>,
): AsyncGenerator<Buffer> {
  for (const name of names) {
    for await (const entry of entriesBelow(root, name)) {
      yield tarHeader(entry);
      if (entry.kind === "directory") continue;
      const hash = createHash("sha256");
      let bytes = 0;
      for await (const chunk of createReadStream(join(root, entry.name), {
        end: Math.max(0, entry.bytes - 1),
      })) {
        // Not of an empty file, because `end` is inclusive.
        const content = (chunk as Buffer).subarray(0, entry.bytes);
        hash.update(content);
        bytes += content.byteLength;
        yield content;
      }
      if (bytes !== entry.bytes) throw new TarError(`the file ${entry.name} changed meanwhile`);
      yield tarPadding(bytes);
      files[entry.name] = { bytes, sha256: hash.digest("hex") };
    }
  }
  const content = Buffer.from(JSON.stringify(manifest));
  yield tarHeader({ name: MANIFEST, kind: "file", bytes: content.byteLength });
  yield content;
  yield tarPadding(content.byteLength);
  yield TAR_END;
}

async function* entriesBelow(root: string, name: string): AsyncGenerator<TarEntry> {
  const found = await lstat(join(root, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (found === null) return;
  if (found.isFile()) yield { name, kind: "file", bytes: found.size };
  else if (found.isDirectory()) {
    yield { name, kind: "directory", bytes: 0 };
    for (const inside of (await readdir(join(root, name))).sort())
      yield* entriesBelow(root, `${name}/${inside}`);
  } else throw new TarError(`${join(root, name)} is neither a file nor a folder`);
}

/**
 * Reads a whole backup and checks every file.
 * @param into where its files are written; null: they are only checked
 * @throws CommandError with the fault.
 */
export async function readBackup(path: string, into: string | null): Promise<BackupManifest> {
  const found = new Map<string, { bytes: number; sha256: string }>();
  const manifest: Buffer[] = [];
  const take = async (entry: TarEntry, content: AsyncIterable<Buffer>): Promise<void> => {
    refuseName(entry.name);
    if (entry.kind === "directory") {
      if (into !== null) await mkdir(join(into, entry.name), { recursive: true, mode: 0o700 });
      return;
    }
    if (entry.name === MANIFEST) {
      if (entry.bytes > MAX_MANIFEST_BYTES) throw new TarError("its list of files is too long");
      for await (const chunk of content) manifest.push(chunk);
      return;
    }
    const hash = createHash("sha256");
    const hashed = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of content) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await store(hashed(), into === null ? null : join(into, entry.name));
    found.set(entry.name, { bytes: entry.bytes, sha256: hash.digest("hex") });
  };
  try {
    const source = createReadStream(path);
    await pipeline(source, createGunzip(), async (unpacked: AsyncIterable<Buffer>) =>
      readTar(unpacked, take),
    );
    return checked(Buffer.concat(manifest), found);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && message.includes(path)) throw new CommandError(`There is no file ${path}.`);
    const known = error instanceof TarError || code?.startsWith("Z_") === true;
    if (known) throw new CommandError(`The backup ${path} cannot be used: ${message}.`);
    throw error;
  }
}

function refuseName(name: string): void {
  const steps = name.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..") || name.includes("\\")) {
    throw new TarError(`it holds the name ${JSON.stringify(name)}, which points to another folder`);
  }
}

async function store(content: AsyncIterable<Buffer>, path: string | null): Promise<void> {
  if (path === null) {
    for await (const _ of content);
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  await pipeline(content, createWriteStream(path, { flags: "wx", mode: OWNER_ONLY }));
}

function checked(
  text: Buffer,
  found: ReadonlyMap<string, { readonly bytes: number; readonly sha256: string }>,
): BackupManifest {
  const manifest = manifestOf(text);
  const listed = Object.entries(manifest.files);
  const wrong = listed.find(([name, { bytes, sha256 }]) => {
    const file = found.get(name);
    return file?.bytes !== bytes || file.sha256 !== sha256;
  });
  if (wrong !== undefined) throw new TarError(`the file ${wrong[0]} in it is missing or damaged`);
  if (listed.length !== found.size) throw new TarError("it contains files that it does not list");
  return manifest;
}

function manifestOf(text: Buffer): BackupManifest {
  if (text.byteLength === 0) throw new TarError("it is not a backup of this program");
  const manifest = JSON.parse(text.toString()) as Omit<BackupManifest, "format"> & {
    readonly format: string;
  };
  if (manifest.format !== FORMAT)
    throw new TarError(`its format is ${manifest.format}, which this version cannot read`);
  return { ...manifest, format: FORMAT };
}
