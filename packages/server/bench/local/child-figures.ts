/** What is measured of the process of a model: its start, its memory, and how long it is away after a crash. */

import { readFile } from "node:fs/promises";
import { trackedStart } from "../../src/providers/local-child/testing/toy-models.ts";
import type { StartLocalChild } from "../../src/providers/local-child/local-child.ts";

export interface Closable {
  close(): Promise<void>;
}

export interface Started<Engine extends Closable> {
  readonly engine: Engine;
  readonly startMs: number;
  /** Of the newest process. */
  readonly pid: () => number;
}

export async function started<Engine extends Closable>(
  open: (start: StartLocalChild) => Promise<Engine>,
): Promise<Started<Engine>> {
  const { pids, start } = trackedStart();
  const from = performance.now();
  const engine = await open(start);
  return { engine, startMs: performance.now() - from, pid: () => pids.at(-1) ?? 0 };
}

/** Resident memory in MB; null: this system does not say. */
export async function memoryMb(pid: number): Promise<number | null> {
  const text = await readFile(`/proc/${String(pid)}/status`, "utf8").catch(() => "");
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  return found === undefined ? null : Number(found) / 1_000;
}

/** A crash must be over by then, whatever else the machine does. */
const RECOVERY_LIMIT_MS = 60_000;

export interface Crash {
  /** From the end of the process to the failure of the request that it was serving. */
  readonly failedMs: number;
  /** From the end of the process to the first request that is served again. */
  readonly servedMs: number;
}

/** @param use one request; rejects when it is not served */
export async function crash({ pid }: Started<Closable>, use: () => Promise<unknown>): Promise<Crash> {
  const lost = pid();
  process.kill(lost, "SIGSTOP");
  const serving = use();
  const from = performance.now();
  process.kill(lost, "SIGKILL");
  const outcome = await serving.then(
    () => "served",
    () => "failed",
  );
  if (outcome === "served") throw new Error("a request was served by a process that was stopped");
  const failedMs = performance.now() - from;
  while (performance.now() - from < RECOVERY_LIMIT_MS) {
    try {
      await use();
      return { failedMs, servedMs: performance.now() - from };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 5)); // Its process is not there again yet.
    }
  }
  throw new Error("the engine was not served again");
}
