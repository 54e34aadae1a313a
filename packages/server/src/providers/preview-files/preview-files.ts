/** Spoken samples as files of a directory, the least used of which make room for new ones. */

import { createHash, randomUUID } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";

export interface PreviewFiles {
  /** Null: not kept. The text says all that the sample depends on; another one means another sample. */
  read(about: string): Promise<Uint8Array | null>;
  keep(about: string, bytes: Uint8Array): Promise<void>;
}

export interface PreviewLimits {
  readonly files: number;
  readonly bytes: number;
}

/** Four engines' worth of voices; a sample is some 200 KB. */
export const PREVIEW_LIMITS: PreviewLimits = { files: 256, bytes: 64 * 1024 * 1024 };

const OWNER_ONLY = 0o700;

const FILE_NAME = /^[0-9a-f]{64}\.wav$/;

interface KeptFile {
  readonly name: string;
  readonly bytes: number;
}

/** @param dir made when it does not exist; of this process alone, and nothing else may be in it */
export async function openPreviewFiles(
  dir: string,
  limits: PreviewLimits = PREVIEW_LIMITS,
): Promise<PreviewFiles> {
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  await chmod(dir, OWNER_ONLY);
  // Least recently used first.
  const kept = new Map((await findFiles(dir)).map((file) => [file.name, file]));
  let bytesKept = [...kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  const forget = async (name: string): Promise<void> => {
    bytesKept -= kept.get(name)?.bytes ?? 0;
    kept.delete(name);
    await rm(path.join(dir, name), { force: true });
  };
  const put = (file: KeptFile): void => {
    bytesKept += file.bytes - (kept.get(file.name)?.bytes ?? 0);
    kept.delete(file.name);
    kept.set(file.name, file);
  };
  const makeRoom = async (): Promise<void> => {
    for (const name of kept.keys()) {
      if (kept.size <= limits.files && bytesKept <= limits.bytes) return;
      await forget(name);
    }
  };
  await makeRoom();
  return {
    async read(about) {
      const file = kept.get(nameOf(about));
      if (file === undefined) return null;
      put(file);
      try {
        return await readFile(path.join(dir, file.name));
      } catch {
        // Somebody cleared the directory: it is as if it had never been kept.
        await forget(file.name);
        return null;
      }
    },
    async keep(about, bytes) {
      if (bytes.byteLength > limits.bytes) return;
      const name = nameOf(about);
      const whole = path.join(dir, name);
      // Renamed when it is whole, so that nobody reads a half.
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

/** Oldest first. What a crash left half written is removed. */
async function findFiles(dir: string): Promise<KeptFile[]> {
  const found: (KeptFile & { readonly writtenMs: number })[] = [];
  for (const name of await readdir(dir)) {
    if (name.endsWith(".part")) await rm(path.join(dir, name), { force: true });
    if (!FILE_NAME.test(name)) continue;
    const { size, mtimeMs } = await stat(path.join(dir, name));
    found.push({ name, bytes: size, writtenMs: mtimeMs });
  }
  return found.sort((a, b) => a.writtenMs - b.writtenMs);
}
