import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";

/** `ps` answers within milliseconds; beyond this the process counts as of unknown start. */
const PS_LIMIT_MS = 2_000;

/**
 * When a process started, as an opaque text to compare; null when it is not running. A process id alone does not
 * identify a process: ids are reused, in containers nearly always.
 */
export async function processStart(pid: number): Promise<string | null> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, under another user.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return null;
  }
  return process.platform === "linux" ? startFromProc(pid) : startFromPs(pid);
}

/** Field 22 of /proc/<pid>/stat, in ticks since boot (proc(5)). The name in field 2 may hold spaces and brackets. */
async function startFromProc(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [state] = fields;
    // A zombie has ended; its parent has not read its exit code yet.
    return state === "Z" || state === "X" ? null : (fields[22 - 3] ?? "unknown");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    return "unknown";
  }
}

async function startFromPs(pid: number): Promise<string> {
  try {
    const options = { timeout: PS_LIMIT_MS, env: { ...process.env, LC_ALL: "C" } };
    const { stdout } = await promisify(execFile)("ps", ["-o", "lstart=", "-p", String(pid)], options);
    return stdout.trim() === "" ? "unknown" : stdout.trim();
  } catch {
    // No `ps`, as on Windows: only that the process runs is known.
    return "unknown";
  }
}

/**
 * Identifies the process table that a pid belongs to: host, boot and, on Linux, pid namespace. Containers on one volume
 * have different ones, and process 1 of one is not process 1 of the other.
 */
export async function processTable(): Promise<string> {
  if (process.platform !== "linux") return hostname();
  const [boot, namespace] = await Promise.all([
    readFile("/proc/sys/kernel/random/boot_id", "latin1").catch(() => "unknown boot"),
    readlink("/proc/self/ns/pid").catch(() => "unknown namespace"),
  ]);
  return [hostname(), boot.trim(), namespace].join(" ");
}
