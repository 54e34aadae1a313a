/** One command at a time changes the folder of the models. */

import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ModelError } from "./model-error.ts";

/** How often a command says that it is still at work. */
const BEAT_MS = 5_000;
/**
 * A claim that is older belongs to a command that was killed, even if there is a process with its number: in a container
 * the same few numbers come again and again. Six beats, because a machine may be slow.
 */
const STALE_MS = 30_000;
/** Two commands that begin in the same moment see each other, and both withdraw. Then each tries again. */
const ATTEMPTS = 3;
/** Wait before another attempt, at random up to this. */
const LONGEST_WAIT_MS = 200;

/** Folders that this process has claimed. */
const own = new Set<string>();

/** @throws ModelError while another command is at work */
export async function claimFolder(folder: string): Promise<AsyncDisposable> {
  const claims = claimsOf(folder);
  if (own.has(claims)) throw new ModelError(`This process is changing ${folder}; wait until it has done so.`);
  own.add(claims);
  try {
    await mkdir(claims, { recursive: true });
    return held(claims, await take(claims, folder));
  } catch (error) {
    own.delete(claims);
    throw error;
  }
}

/** Each file is the claim of one command, and has the number of its process. */
export function claimsOf(folder: string): string {
  return join(folder, ".claims");
}

/**
 * Each command has a file of its own, so that the removal of an abandoned one never removes that of another command. The
 * file is there before the others are looked for: of two commands at least one sees the other.
 */
async function take(claims: string, folder: string): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const path = join(claims, randomUUID());
    await writeFile(path, String(process.pid), { flag: "wx" });
    const other = await otherClaim(claims, path);
    if (other === null) return path;
    await rm(path, { force: true });
    if (attempt === ATTEMPTS)
      throw new ModelError(
        `Process ${String(other)} is changing ${folder}; wait until it has ended. If it was killed, run the command again in half a minute.`,
      );
    await wait(Math.random() * LONGEST_WAIT_MS);
  }
}

/** The process of another command that is at work. Removes what killed commands have left. */
async function otherClaim(claims: string, mine: string): Promise<number | null> {
  for (const name of await readdir(claims)) {
    const path = join(claims, name);
    if (path === mine) continue;
    const pid = Number(await readFile(path, "utf8").catch(() => ""));
    if (!(await isAbandoned(path, pid))) return pid;
    await rm(path, { force: true });
  }
  return null;
}

function held(claims: string, path: string): AsyncDisposable {
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
      own.delete(claims);
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
