/**
 * The lock of DATA_DIR. The embedded database does not detect a second process: two on one folder corrupt it without an
 * error.
 *
 * Lock files are numbered, `lock.1`, `lock.2` …, and the highest one counts. A process that finds it released, or left
 * by an ended process, creates the next number, which only one process can do. A file is removed only when a higher one
 * exists. So no process removes a lock that another one has just taken, which can happen when a single stale file is
 * deleted and created again.
 */

import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, link, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeDataDir } from "./data-dir.ts";
import { processStart, processTable } from "./process-start.ts";
import { DataDirInUseError, StoreStartError } from "./store-errors.ts";

export interface DataDirLock {
  /** Identifies this process among all that have had the folder. */
  readonly bootId: string;
  /** Processes that had the folder before, as far as this machine shows that they have ended; the last ones. */
  readonly endedBootIds: readonly string[];
  /** Idempotent. */
  readonly release: () => Promise<void>;
}

interface LockRecord {
  readonly pid: number;
  readonly startTime: string;
  readonly processTable: string;
  readonly released: boolean;
  /** Its own, then those of ended processes before it. */
  readonly bootIds: readonly string[];
}

/** Interval of the heartbeat: the owner touches its file for processes in other containers or on other hosts. */
const HEARTBEAT_MS = 2_000;

/** A file whose process cannot be seen counts as stale when it is not touched for this long: three heartbeats. */
const FOREIGN_WATCH_MS = 7_000;

/** How often the file is checked meanwhile. */
const FOREIGN_POLL_MS = 250;

/** Names of processes that a lock file carries on: starts and commands between a crash and the next start. */
const MAXIMUM_BOOT_IDS = 20;

/** In each lost race another process took a number; this many in a row do not happen. */
const MAXIMUM_ATTEMPTS = 100;

/** @throws DataDirInUseError with a sentence that names the process and the folder when another process has it. */
export async function lockDataDir(
  dataDir: string,
  foreignWatchMs: number = FOREIGN_WATCH_MS,
): Promise<DataDirLock> {
  makeDataDir(dataDir);
  const bootId = randomUUID();
  const table = await processTable();
  const present = {
    pid: process.pid,
    startTime: (await processStart(process.pid)) ?? "unknown",
    processTable: table,
    released: false,
  };
  for (let attempt = 0; attempt < MAXIMUM_ATTEMPTS; attempt += 1) {
    const highest = Math.max(0, ...(await lockNumbers(dataDir)));
    const ended = highest > 0 ? await refuseIfHeld(dataDir, highest, table, foreignWatchMs) : [];
    const own: LockRecord = { ...present, bootIds: [bootId, ...ended].slice(0, MAXIMUM_BOOT_IDS) };
    const number = highest + 1;
    if (!(await createExclusively(dataDir, number, own))) continue;
    const numbers = await lockNumbers(dataDir);
    if (Math.max(...numbers) !== number) {
      // Other processes took higher numbers while this one was suspended.
      await rm(lockPath(dataDir, number), { force: true });
      continue;
    }
    await Promise.all(
      numbers
        .filter((other) => other < number)
        .map(async (other) => rm(lockPath(dataDir, other), { force: true })),
    );
    return hold(dataDir, number, own, { bootId, endedBootIds: ended });
  }
  throw new StoreStartError(`The lock of the data folder ${dataDir} could not be taken.`);
}

function hold(
  dataDir: string,
  number: number,
  own: LockRecord,
  boots: Pick<DataDirLock, "bootId" | "endedBootIds">,
): DataDirLock {
  const path = lockPath(dataDir, number);
  const heartbeat = setInterval(() => {
    const now = new Date();
    // A missed heartbeat does no harm; the next one follows.
    utimes(path, now, now).catch(() => undefined);
  }, HEARTBEAT_MS);
  heartbeat.unref();
  let released: Promise<void> | null = null;
  return {
    ...boots,
    release: async () => {
      clearInterval(heartbeat);
      // The file stays, marked as released: numbers only increase.
      released ??= writeAside(dataDir, { ...own, released: true }).then(async (aside) => rename(aside, path));
      return released;
    },
  };
}

/**
 * Returns the boots of processes that have certainly ended: of a file that only stands still, the folder may be a copy.
 */
async function refuseIfHeld(
  dataDir: string,
  number: number,
  ownTable: string,
  foreignWatchMs: number,
): Promise<readonly string[]> {
  const path = lockPath(dataDir, number);
  const record = await readRecord(path);
  if (record?.released === true) return record.bootIds;
  if (record !== null && record.processTable === ownTable) {
    if ((await processStart(record.pid)) !== record.startTime) return record.bootIds;
  } else if (!(await isTouched(path, foreignWatchMs))) return record?.bootIds.slice(1) ?? [];
  const owner = record === null ? "Another process" : `Process ${record.pid}`;
  throw new DataDirInUseError(
    `${owner} is using the data folder ${dataDir}; stop it or choose another DATA_DIR.`,
  );
}

/** Waits for a heartbeat of an owner whose process cannot be seen. A file that disappears was not the highest one. */
async function isTouched(path: string, watchMs: number): Promise<boolean> {
  const before = await touchedAtMs(path);
  for (let watchedMs = 0; watchedMs < watchMs; watchedMs += FOREIGN_POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, FOREIGN_POLL_MS));
    if ((await touchedAtMs(path)) !== before) return true;
  }
  return false;
}

async function touchedAtMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Null when it is gone or incomplete: some file systems cannot create a file together with its content. */
async function readRecord(path: string): Promise<LockRecord | null> {
  try {
    const record = JSON.parse(await readFile(path, "utf8")) as Partial<LockRecord>;
    const { pid, startTime, processTable: table, released, bootIds } = record;
    if (typeof pid !== "number" || typeof startTime !== "string" || typeof table !== "string") return null;
    const boots = Array.isArray(bootIds) ? bootIds.filter((id) => typeof id === "string") : [];
    return { pid, startTime, processTable: table, released: released === true, bootIds: boots };
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** False when the file exists. It appears with its content, except on file systems without hard links. */
async function createExclusively(dataDir: string, number: number, record: LockRecord): Promise<boolean> {
  const aside = await writeAside(dataDir, record);
  const path = lockPath(dataDir, number);
  try {
    await link(aside, path).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code === "EEXIST") throw error;
      await copyFile(aside, path, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await rm(aside, { force: true });
  }
}

async function writeAside(dataDir: string, record: LockRecord): Promise<string> {
  const path = join(dataDir, `lock-${randomUUID()}.tmp`);
  await writeFile(path, `${JSON.stringify(record)}\n`, { flag: "wx" });
  return path;
}

async function lockNumbers(dataDir: string): Promise<number[]> {
  const names = await readdir(dataDir);
  return names.flatMap((name) => {
    const digits = /^lock\.([1-9]\d{0,14})$/.exec(name)?.[1];
    return digits === undefined ? [] : [Number(digits)];
  });
}

function lockPath(dataDir: string, number: number): string {
  return join(dataDir, `lock.${number}`);
}
