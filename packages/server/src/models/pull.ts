/** Fetches a model of the catalogue, checks it and unpacks it. */

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, rename, rm, statfs } from "node:fs/promises";
import { basename, join } from "node:path";
import { type CatalogueModel, megabytes } from "./catalogue.ts";
import { claimFolder } from "./claim.ts";
import { discard, download, type Downloaded } from "./download.ts";
import { ModelError } from "./model-error.ts";
import { folderOf, isInstalled, type ModelLock, readLock, writeLock } from "./models-folder.ts";
import { findPackage, installPackage } from "./packages.ts";
import { ArchiveError } from "./unpack/archive-error.ts";
import { unpack, type UnpackedFile } from "./unpack/unpack.ts";

export interface PullOptions {
  readonly model: CatalogueModel;
  /** From `modelsFolder`. */
  readonly folder: string;
  /** Base URL that has the files of all addresses, by their last part; null: the addresses themselves. */
  readonly mirror: string | null;
  /** Takes a file that differs from the one of the first pull. */
  readonly acceptsNew: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets one line for each step. */
  readonly say: (line: string) => void;
  readonly progress: (bytes: number, total: number | null) => void;
  /** Free bytes of the disk of a folder; tests have small disks. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** A file that grew since the catalogue was written is still taken. */
const MAX_GROWTH = 1.5;
/** A smaller one is something else, such as the page of a proxy. An archive says by itself that it is none. */
const LEAST_SHARE = 0.5;
/** Unpacked, models have 1.3 times the size of their archives. */
const UNPACKED_SHARE = 1.6;
const MAX_UNPACKED_SHARE = 6;
/** Stays free for the service, which writes to the same disk. */
const RESERVE_BYTES = 200_000_000;

export type Pulled = "pulled" | "present";

/** @throws ModelError with a sentence */
export async function pullModel(options: PullOptions): Promise<Pulled> {
  const { folder, model } = options;
  await mkdir(join(folder, "downloads"), { recursive: true });
  await using _claim = await claimFolder(folder);
  await installPackages(options);
  if (isInstalled(readLock(folder), model) && !options.acceptsNew && isThere(folder, model)) return "present";
  try {
    await fetchAndUnpack(options);
  } catch (error) {
    const isFull = error instanceof Error && "code" in error && error.code === "ENOSPC";
    throw isFull
      ? new ModelError(`${model.name} cannot be unpacked: the disk is full.`, { cause: error })
      : error;
  }
  return "pulled";
}

function isThere(folder: string, model: CatalogueModel): boolean {
  return Object.values(model.parts).every((name) => existsSync(join(folderOf(folder, model), name)));
}

async function installPackages({ model, folder, env, say }: PullOptions): Promise<void> {
  for (const [name, version] of Object.entries(model.packages)) {
    if (findPackage(folder, name, version) !== null) continue;
    say(`installing the npm package ${name}@${version}`);
    await installPackage(folder, name, version, env);
  }
}

async function fetchAndUnpack(options: PullOptions): Promise<void> {
  const { model, folder, mirror, say } = options;
  const file = basename(new URL(model.address).pathname);
  const address = mirror === null ? model.address : `${mirror}/${file}`;
  const part = join(folder, "downloads", file);
  say(`fetching ${address} (about ${megabytes(model.bytes)}, licence ${model.licence})`);
  const fetched = await download({
    name: model.name,
    address,
    path: part,
    maxBytes: model.bytes * MAX_GROWTH,
    progress: options.progress,
    makeRoom: (bytes) => makeRoom(options, bytes),
  });
  if (model.folder === null && fetched.bytes < model.bytes * LEAST_SHARE) {
    await discard(part);
    throw new ModelError(
      `${address} gave ${String(fetched.bytes)} bytes in place of about ${megabytes(model.bytes)}: that is not ${model.name}. Does a proxy or a sign-in page answer in its place?`,
    );
  }
  const lock = readLock(folder);
  await compare(options, fetched, lock, part);
  say("unpacking");
  const files = await (model.folder === null
    ? placeFile(model, folder, part, fetched)
    : placeFolder(options, part));
  const locked = { address: model.address, fetched, files };
  await writeLock(folder, { ...lock, [model.name]: locked });
  await discard(part);
}

async function makeRoom(
  { model, folder, freeBytes = freeBytesOf }: PullOptions,
  bytes: number,
): Promise<void> {
  const unpacked = model.folder === null ? model.bytes : model.bytes * UNPACKED_SHARE;
  const wanted = bytes + unpacked + RESERVE_BYTES;
  const free = await freeBytes(folder);
  if (free >= wanted) return;
  throw new ModelError(
    `${model.name} needs ${megabytes(wanted)} of free disk space, and ${folder} has ${megabytes(free)}.`,
  );
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** With the catalogue, otherwise with the first pull, whose checksum is kept. */
async function compare(
  { model, acceptsNew }: PullOptions,
  { sha256 }: Downloaded,
  lock: ModelLock,
  part: string,
): Promise<void> {
  const pinned = acceptsNew ? null : (lock[model.name]?.fetched.sha256 ?? null);
  const expected = model.sha256 ?? pinned;
  if (expected === null || expected === sha256) return;
  await discard(part);
  const hint =
    model.sha256 === null
      ? " If its publisher has replaced it, pull it with --accept-new to take the new file."
      : "";
  throw new ModelError(
    `${model.name} is not the file that was expected: its sha256 is ${sha256} in place of ${expected}.${hint}`,
  );
}

async function placeFile(
  { parts }: CatalogueModel,
  folder: string,
  part: string,
  { bytes, sha256 }: Downloaded,
): Promise<UnpackedFile[]> {
  const [name = ""] = Object.values(parts);
  const aside = join(folder, `${name}.${randomUUID()}.tmp`);
  await copyFile(part, aside);
  await rename(aside, join(folder, name));
  return [{ name, bytes, sha256 }];
}

/** The folder of the model appears when it is complete. */
async function placeFolder({ model, folder }: PullOptions, part: string): Promise<UnpackedFile[]> {
  const parts = Object.values(model.parts);
  const wants = (name: string): boolean =>
    parts.some((one) => name === one || name.startsWith(`${one}/`)) ||
    /^(?:LICEN[CS]E|README|MODEL_CARD)/.test(name);
  const aside = join(folder, `unpacking-${randomUUID()}`);
  try {
    const files = await unpack({
      archive: part,
      into: aside,
      folder: model.folder ?? "",
      wants,
      maxBytes: model.bytes * MAX_UNPACKED_SHARE,
    });
    const missing = parts.find(
      (one) => !files.some(({ name }) => name === one || name.startsWith(`${one}/`)),
    );
    if (missing !== undefined) throw new ArchiveError(`it lacks ${missing}`);
    const final = folderOf(folder, model);
    await rm(final, { recursive: true, force: true });
    await rename(aside, final);
    return files;
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    if (!(error instanceof ArchiveError)) throw error;
    await discard(part);
    throw new ModelError(`The archive of ${model.name} cannot be used: ${error.message}.`, { cause: error });
  }
}

/** Whether it was there. */
export async function removeModel(folder: string, model: CatalogueModel): Promise<boolean> {
  const lock = readLock(folder);
  const locked = lock[model.name];
  if (locked === undefined || locked.files === null) return false;
  await using _claim = await claimFolder(folder);
  const inside = folderOf(folder, model);
  if (model.folder === null)
    for (const { name } of locked.files) await rm(join(inside, name), { force: true });
  else await rm(inside, { recursive: true, force: true });
  await writeLock(folder, { ...lock, [model.name]: { ...locked, files: null } });
  return true;
}
