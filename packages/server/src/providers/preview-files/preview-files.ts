/** A cache of spoken samples in a directory, which evicts the least recently used ones. */

import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

export interface PreviewFiles {
  /** Null: not stored. `about` is the key: it contains everything that the sample depends on. */
  read(about: string): Promise<Uint8Array | null>;
  keep(about: string, bytes: Uint8Array): Promise<void>;
}

export interface PreviewLimits {
  readonly files: number;
  readonly bytes: number;
}

/** Limits: the voices of four engines; a sample has some 200 KB. */
export const PREVIEW_LIMITS: PreviewLimits = { files: 256, bytes: 64 * 1024 * 1024 };

const OWNER_ONLY = 0o700;

const FILE_NAME = /^[0-9a-f]{64}\.wav$/;

interface StoredFile {
  readonly name: string;
  readonly bytes: number;
}

/** @param dir created if it does not exist; only this process uses it, and it contains nothing else */
export async function openPreviewFiles(
  dir: string,
  limits: PreviewLimits = PREVIEW_LIMITS,
): Promise<PreviewFiles> {
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  await chmod(dir, OWNER_ONLY);
  // Least recently used first.
  const stored = new Map((await findFiles(dir)).map((file) => [file.name, file]));
  let storedBytes = [...stored.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  const forget = async (name: string): Promise<void> => {
    storedBytes -= stored.get(name)?.bytes ?? 0;
    stored.delete(name);
    await rm(path.join(dir, name), { force: true });
  };
  const put = (file: StoredFile): void => {
    storedBytes += file.bytes - (stored.get(file.name)?.bytes ?? 0);
    stored.delete(file.name);
    stored.set(file.name, file);
  };
  const makeRoom = async (): Promise<void> => {
    for (const name of stored.keys()) {
      if (stored.size <= limits.files && storedBytes <= limits.bytes) return;
      await forget(name);
    }
  };
  await makeRoom();
  return {
    async read(about) {
      const file = stored.get(nameOf(about));
      if (file === undefined) return null;
      put(file);
      try {
        return await readFile(path.join(dir, file.name));
      } catch {
        // The directory was cleared: treat the sample as not stored.
        await forget(file.name);
        return null;
      }
    },
    async keep(about, bytes) {
      if (bytes.byteLength > limits.bytes) return;
      const name = nameOf(about);
      const whole = path.join(dir, name);
      // Renamed when it is complete, so that no reader gets a part of it.
      const part = `${whole}.${randomUUID()}.part`;
      try {
        await writeFile(part, bytes);
        await rename(part, whole);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      put({ name, bytes: bytes.byteLength });
      await makeRoom();
    },
  };
}

function nameOf(about: string): string {
  return `${createHash("sha256").update(about).digest("hex")}.wav`;
}

/** Oldest first. Removes incomplete files that a crash left. */
async function findFiles(dir: string): Promise<StoredFile[]> {
  const found: (StoredFile & { readonly writtenMs: number })[] = [];
  for (const name of await readdir(dir)) {
    if (name.endsWith(".part")) await rm(path.join(dir, name), { force: true });
    if (!FILE_NAME.test(name)) continue;
    const { size, mtimeMs } = await stat(path.join(dir, name));
    found.push({ name, bytes: size, writtenMs: mtimeMs });
  }
  return found.sort((a, b) => a.writtenMs - b.writtenMs);
}
