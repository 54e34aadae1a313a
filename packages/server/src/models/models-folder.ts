/** The folder of models: `DATA_DIR/models`, and its lock file, which states what was pulled. */

import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LocalModel } from "../providers/local-child/local-model.ts";
import type { CatalogueModel } from "./catalogue.ts";
import { ModelError } from "./model-error.ts";
import type { UnpackedFile } from "./unpack/unpack.ts";

const LOCK_FILE = "lock.json";
const FORMAT = 1;

export interface LockedModel {
  readonly address: string;
  /** Of what the address gave at the first pull. It stays when the model is removed. */
  readonly fetched: { readonly bytes: number; readonly sha256: string };
  /** What is installed; null: nothing any more. Names are below the folder of the model. */
  readonly files: readonly UnpackedFile[] | null;
}

export type ModelLock = Readonly<Record<string, LockedModel>>;

export function modelsFolder(dataDir: string): string {
  return join(dataDir, "models");
}

/** Where the files of a model are: a single file is beside the folders of the others. */
export function folderOf(folder: string, model: CatalogueModel): string {
  return model.folder === null ? folder : join(folder, model.name);
}

/** @throws ModelError where the file cannot be read */
export function readLock(folder: string): ModelLock {
  const path = join(folder, LOCK_FILE);
  if (!existsSync(path)) return {};
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    throw new ModelError(`${path} is damaged; delete it, and pull the models again.`);
  }
  const { format, models } = content as { readonly format?: unknown; readonly models?: ModelLock };
  if (format !== FORMAT || models === undefined)
    throw new ModelError(`${path} was written by another version of Parley, which this one cannot read.`);
  return models;
}

/** All or nothing, also when the machine stops. */
export async function writeLock(folder: string, models: ModelLock): Promise<void> {
  await mkdir(folder, { recursive: true });
  const aside = join(folder, `${LOCK_FILE}.${randomUUID()}.tmp`);
  await writeFile(aside, `${JSON.stringify({ format: FORMAT, models }, null, 2)}\n`, { flush: true });
  await rename(aside, join(folder, LOCK_FILE));
}

export function isInstalled(lock: ModelLock, model: CatalogueModel): boolean {
  return (lock[model.name]?.files ?? null) !== null;
}

/** What the process of the model is told; null: it is not installed. */
export function installedModel(folder: string, model: CatalogueModel): LocalModel | null {
  const files = readLock(folder)[model.name]?.files ?? null;
  if (files === null || model.family === null) return null;
  const inside = folderOf(folder, model);
  return {
    name: model.name,
    family: model.family,
    paths: Object.fromEntries(Object.entries(model.parts).map(([role, name]) => [role, join(inside, name)])),
    files: files.map(({ name, bytes, sha256 }) => ({ path: join(inside, name), bytes, sha256 })),
    languages: model.languages,
    voices: model.voices,
  };
}
