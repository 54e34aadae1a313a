/** One command at a time changes the folder of the models. */

import { mkdir, open, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { ModelError } from "./model-error.ts";

/** How often a command says that it is still at work. */
const BEAT_MS = 5_000;
/**
 * A claim that is older belongs to a command that was killed, even if there is a process with its number: in a container
 * the same few numbers come again and again. Six beats, because a machine may be slow.
 */
const STALE_MS = 30_000;

/** Folders that this process has claimed. */
const own = new Set<string>();

/** @throws ModelError while another command is at work */
export async function claimFolder(folder: string): Promise<AsyncDisposable> {
  const path = join(folder, "downloads", "pid");
  if (own.has(path)) throw new ModelError(`This process is changing ${folder}; wait until it has done so.`);
  own.add(path);
  try {
    await mkdir(join(folder, "downloads"), { recursive: true });
    await take(path, folder);
    return held(path);
  } catch (error) {
    own.delete(path);
    throw error;
  }
}

async function take(path: string, folder: string): Promise<void> {
  for (const mayTakeOver of [true, false]) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(String(process.pid));
      await file.close();
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const pid = Number(await readFile(path, "utf8").catch(() => ""));
      if (!mayTakeOver || !(await isAbandoned(path, pid)))
        throw new ModelError(
          `Process ${String(pid)} is changing ${folder}; wait until it has ended. If it was killed, run the command again in half a minute.`,
        );
      await rm(path, { force: true });
    }
  }
}

function held(path: string): AsyncDisposable {
  const beat = setInterval(() => {
    const now = new Date();
    // It is gone where somebody has deleted the folder: then the command itself fails.
    utimes(path, now, now).catch(() => undefined);
  }, BEAT_MS);
  beat.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(beat);
      await rm(path, { force: true });
      own.delete(path);
    },
  };
}

async function isAbandoned(path: string, pid: number): Promise<boolean> {
  // Its number is that of an earlier process, such as the first one of an earlier container.
  if (pid === process.pid) return true;
  // Without a number the command has only just opened the file, or was killed in that moment.
  if (Number.isSafeInteger(pid) && pid > 0 && !isAlive(pid)) return true;
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: 0 }));
  return Date.now() - mtimeMs > STALE_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Of another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
