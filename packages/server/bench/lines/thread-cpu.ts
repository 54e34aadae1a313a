/** CPU time of a process and of its threads, from Linux's /proc; elsewhere there are no figures. */

import { readdir, readFile } from "node:fs/promises";

/** Of one thread or, as `all`, of the process with the threads that have ended. Seconds of CPU, user and system. */
export type CpuSeconds = ReadonlyMap<string, number>;

/** Ticks of /proc/PID/stat in a second: USER_HZ, 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;
/** Fields 14 and 15 of /proc/PID/stat (proc(5)), counted after the name. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

export async function cpuSecondsOf(pid: number): Promise<CpuSeconds> {
  if (process.platform !== "linux") return new Map();
  const seconds = new Map<string, number>();
  const folder = `/proc/${String(pid)}`;
  seconds.set("all", readStat(await readFile(`${folder}/stat`, "utf8")).seconds);
  for (const task of await readdir(`${folder}/task`)) {
    const text = await readFile(`${folder}/task/${task}/stat`, "utf8").catch(() => null);
    // The thread has ended meanwhile.
    if (text === null) continue;
    const { name, seconds: own } = readStat(text);
    seconds.set(name, (seconds.get(name) ?? 0) + own);
  }
  return seconds;
}

function readStat(text: string): { readonly name: string; readonly seconds: number } {
  const end = text.lastIndexOf(")");
  const fields = text.slice(end + 2).split(" ");
  const ticks = Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD]);
  return { name: text.slice(text.indexOf("(") + 1, end), seconds: ticks / TICKS_PER_SECOND };
}

/** What was used between two readings, in shares of one core. */
export function cpuShares(before: CpuSeconds, after: CpuSeconds, tookMs: number): Map<string, number> {
  const shares = new Map<string, number>();
  for (const [name, seconds] of after) {
    shares.set(name, ((seconds - (before.get(name) ?? 0)) * 1_000) / tookMs);
  }
  return shares;
}
