/** Starts the process of the reader, watches its memory, and ends it. */

import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { repeat } from "../../../pacing/repeat.ts";
import type { FromReader, ToReader } from "./protocol.ts";

export interface ReaderProcess {
  readonly pid: number | undefined;
  /** Ignored once the process is gone. */
  send(message: ToReader): void;
  /** Ends the process, even while it works. Resolves when it is gone. */
  end(): Promise<void>;
}

export interface ReaderProcessListener {
  heard(message: FromReader): void;
  /** The process is gone. Called exactly once. */
  ended(reason: ReaderEnd): void;
}

/** `unstarted`: the machine cannot start it, whatever the document is. */
export type ReaderEnd = "memory" | "unstarted" | "other";

/** Objects of JavaScript: a page of 10 MiB takes some 300 MB as a tree of elements. */
const MAX_HEAP_MB = 768;
/** Everything, buffers outside of the heap included. */
const MAX_RESIDENT_BYTES = 1_536 * 1024 * 1024;
const WATCH_INTERVAL_MS = 100;
/** V8 aborts the process at the limit of its heap. */
const ABORTED: ReadonlySet<string | number | null> = new Set(["SIGABRT", "SIGTRAP", 133, 134]);

const PROGRAM = fileURLToPath(new URL("reader-program.ts", import.meta.url));

export function startReaderProcess(
  listener: ReaderProcessListener,
  maxResidentBytes = MAX_RESIDENT_BYTES,
): ReaderProcess {
  // It gets no environment, because the environment of the service contains keys.
  const flags = [`--max-old-space-size=${String(MAX_HEAP_MB)}`, "--disable-warning=ExperimentalWarning"];
  const child = spawn(process.execPath, [...flags, PROGRAM], {
    // Libraries write about damaged files to their output, which may have text of the document.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
    env: {},
    windowsHide: true,
  });
  const gone = Promise.withResolvers<void>();
  let end: ReaderEnd = "other";
  let isOver = false;
  const watch = repeat(
    async () => {
      if (child.pid === undefined || (await residentBytes(child.pid)) <= maxResidentBytes) return;
      end = "memory";
      child.kill("SIGKILL");
    },
    () => WATCH_INTERVAL_MS,
    WATCH_INTERVAL_MS,
    () => undefined,
  );
  const over = (reason: ReaderEnd): void => {
    if (isOver) return;
    isOver = true;
    void watch.stop();
    gone.resolve();
    listener.ended(reason);
  };
  child.on("message", (message) => {
    if (!isOver) listener.heard(message as FromReader);
  });
  child.on("error", () => {
    if (child.pid === undefined) over("unstarted");
  });
  child.once("exit", (code, signal) => over(ABORTED.has(signal ?? code) ? "memory" : end));
  return {
    pid: child.pid,
    send: (message) => {
      // An error is that of a process which has just ended; its end is reported by itself.
      if (child.connected) child.send(message, () => undefined);
    },
    end: () => {
      child.kill("SIGKILL");
      return gone.promise;
    },
  };
}

/** On Linux; elsewhere the limit of the heap is the only one. */
async function residentBytes(pid: number): Promise<number> {
  if (process.platform !== "linux") return 0;
  const status = await readFile(`/proc/${String(pid)}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
