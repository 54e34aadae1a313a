/**
 * Files of the journal in DATA_DIR: one for each call, one sealed text per line. They contain what is sealed in the
 * database, such as plans, so every line is sealed.
 */

import { mkdir, open, readdir, readFile, rename, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { Sealer } from "../database/sealer.ts";
import { SealError } from "../secrets/secrets.ts";

export interface JournalFiles {
  readonly callIds: () => readonly string[];
  readonly has: (callId: string) => boolean;
  /** Of the file of a call; 0: there is none. */
  readonly bytesOf: (callId: string) => number;
  /** Of all files. */
  readonly bytes: () => number;
  /** Resolves when the texts are on the disk; when it rejects, none is. One operation on a call at a time. */
  readonly append: (callId: string, texts: readonly string[]) => Promise<void>;
  /** All texts, in their order. Null: the file cannot be opened with this SECRETS_KEY; it was set aside. */
  readonly read: (callId: string) => Promise<readonly string[] | null>;
  readonly remove: (callId: string) => Promise<void>;
}

const ENDING = ".journal";
/** Files that cannot be read keep their content under this ending, for the operator. */
const ASIDE_ENDING = ".unreadable";

export function journalDir(dataDir: string): string {
  return join(dataDir, "journal");
}

/** The calls that have a file; none where the folder does not exist. */
export async function listJournalFiles(dataDir: string): Promise<readonly string[]> {
  const names = await readdir(journalDir(dataDir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => name.endsWith(ENDING)).map((name) => name.slice(0, -ENDING.length));
}

/** DATA_DIR must be locked by this process. */
export async function openJournalFiles(dataDir: string, sealer: Sealer): Promise<JournalFiles> {
  const dir = journalDir(dataDir);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const sizes = new Map<string, number>();
  const pathOf = (callId: string): string => join(dir, `${callId}${ENDING}`);
  for (const callId of await listJournalFiles(dataDir)) sizes.set(callId, await endAtLine(pathOf(callId)));

  return {
    callIds: () => [...sizes.keys()],
    has: (callId) => sizes.has(callId),
    bytesOf: (callId) => sizes.get(callId) ?? 0,
    bytes: () => [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0),
    async append(callId, texts) {
      const lines = texts.map((text) => `${sealer.seal(text, contextOf(callId))}\n`).join("");
      const before = sizes.get(callId);
      const path = pathOf(callId);
      try {
        await using file = await open(path, "a", 0o600);
        await file.writeFile(lines);
        await file.sync();
      } catch (error) {
        // A part of the lines may be in the file. The next line would continue the last one.
        if (before !== undefined) await truncate(path, before).catch(() => undefined);
        else await rm(path, { force: true }).catch(() => undefined);
        throw error;
      }
      if (before === undefined) await syncFolder(dir);
      sizes.set(callId, (before ?? 0) + Buffer.byteLength(lines));
    },
    async read(callId) {
      const lines = (await readFile(pathOf(callId), "utf8")).split("\n").slice(0, -1);
      try {
        return lines.map((line) => sealer.open(line, contextOf(callId)));
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        await rename(pathOf(callId), join(dir, `${callId}${ASIDE_ENDING}`));
        sizes.delete(callId);
        return null;
      }
    },
    async remove(callId) {
      await rm(pathOf(callId), { force: true });
      sizes.delete(callId);
    },
  };
}

function contextOf(callId: string): string {
  return `journal:${callId}`;
}

/** Cuts off the last line where a crash left only a part of it. Returns the size. */
async function endAtLine(path: string): Promise<number> {
  const content = await readFile(path);
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.byteLength) await truncate(path, end);
  return end;
}

/** Makes a new name in the folder survive a power failure. Some systems do not open folders. */
async function syncFolder(dir: string): Promise<void> {
  try {
    await using folder = await open(dir, "r");
    await folder.sync();
  } catch {
    // The content of the file is on the disk; the name follows within seconds.
  }
}
