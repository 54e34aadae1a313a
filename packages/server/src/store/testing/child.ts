import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child {
  readonly pid: number;
  /** The next line of output; null when the child has ended. */
  readonly line: () => Promise<string | null>;
  /** Closes its input and waits until it exits. */
  readonly finish: () => Promise<void>;
  /** Suspends it until `goOn`, as on an overloaded machine. */
  readonly standStill: () => void;
  readonly goOn: () => void;
  /** Sends SIGKILL and waits until it exits. */
  readonly kill: () => Promise<void>;
}

/** Starts a script as a process: one of this folder, or another by its URL. */
export function startChild(script: string, args: readonly string[]): Child {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [path, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  if (child.stdout === null || child.pid === undefined) throw new Error(`${script} did not start.`);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid,
    line: async () => {
      const next = await lines.next();
      return next.done === true ? null : next.value;
    },
    finish: async () => {
      child.stdin?.end();
      await ended;
    },
    standStill: () => void child.kill("SIGSTOP"),
    goOn: () => void child.kill("SIGCONT"),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
