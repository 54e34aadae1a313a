/** Files of uploaded documents in a folder of this machine. */

import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { CorpusFiles } from "../../ports/corpora/corpus-files.ts";

/** Documents are private: the mode of the folder excludes other users of the machine. */
const OWNER_ONLY = 0o700;
/** Ids are UUIDs; other texts could point outside of the folder. */
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Parts of files that were being written when the process was killed. No write takes this long. */
const PART = /\.part$/;
const PART_KEPT_MS = 3_600_000;

export async function openLocalCorpusFiles(dir: string): Promise<CorpusFiles> {
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  await chmod(dir, OWNER_ONLY);
  await removeParts(dir);
  const fileOf = (documentId: string): string => {
    if (!FILE_ID.test(documentId)) throw new RangeError("not a document id");
    return join(dir, documentId);
  };
  return {
    isShared: false,
    async write(documentId, bytes, signal) {
      const path = fileOf(documentId);
      const part = `${path}.${randomUUID()}.part`;
      try {
        const file = await open(part, "w");
        try {
          await file.writeFile(bytes);
          // A power failure after the answer to the upload must not leave a shorter file.
          await file.sync();
        } finally {
          await file.close();
        }
        signal.throwIfAborted();
        await rename(part, path);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
    },
    async read(documentId, maxBytes, signal) {
      const path = fileOf(documentId);
      try {
        const { size } = await stat(path);
        if (size > maxBytes) throw new RangeError("the file is too large");
        return await readFile(path, { signal });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      }
    },
    async remove(documentId) {
      await rm(fileOf(documentId), { force: true });
    },
  };
}

async function removeParts(dir: string): Promise<void> {
  for (const name of (await readdir(dir)).filter((one) => PART.test(one))) {
    const path = join(dir, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > PART_KEPT_MS) await rm(path, { force: true });
  }
}
