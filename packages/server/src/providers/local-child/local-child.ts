/** Starts the process of a model and ends it. A model that aborts its process ends no more than that. */

import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FromChild } from "./child-protocol.ts";
import type { LoadOrder } from "./local-model.ts";

export interface LocalChildListener<Answer> {
  heard(message: FromChild<Answer>): void;
  /** The process is gone, for the reason given. Called exactly once. */
  ended(reason: string): void;
}

export interface LocalChild<ToChild> {
  readonly pid: number | undefined;
  /** Ignored once the process is gone. */
  send(message: ToChild): void;
  /** Ends the process, even while it works: it has nothing to save. Resolves when it is gone. */
  end(): Promise<void>;
}

export type StartLocalChild = <ToChild, Answer>(
  program: URL,
  order: LoadOrder,
  listener: LocalChildListener<Answer>,
) => LocalChild<ToChild>;

/** Of what it wrote while it loaded, the end that goes into the reason. */
const MAX_STDERR_CHARS = 500;
/** Of JavaScript, which uses 20 MB, and 200 MB while it reads the words of a language model; models are outside of it. */
const MAX_HEAP_MB = 512;

export const startLocalChild: StartLocalChild = <ToChild, Answer>(
  program: URL,
  order: LoadOrder,
  listener: LocalChildListener<Answer>,
): LocalChild<ToChild> => {
  const flags = [
    `--max-old-space-size=${String(MAX_HEAP_MB)}`,
    "--expose-gc",
    "--disable-warning=ExperimentalWarning",
  ];
  // It gets no environment, because the environment of the service contains keys.
  const child = spawn(process.execPath, [...flags, fileURLToPath(program)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    serialization: "advanced",
    env: {},
    windowsHide: true,
  });
  const gone = Promise.withResolvers<void>();
  let isReady = false;
  let said = "";
  // Once it works, what it writes may contain what was said in calls.
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    if (!isReady) said = (said + text).slice(-MAX_STDERR_CHARS);
  });
  child.on("message", (message) => {
    const heard = message as FromChild<Answer>;
    if (heard.type === "ready") {
      isReady = true;
      said = "";
    }
    listener.heard(heard);
  });
  whenGone(child, (reason) => {
    gone.resolve();
    const words = said.trim().replaceAll(/\s+/g, " ");
    listener.ended(words === "" ? reason : `${reason}: ${words}`);
  });
  const send = (message: ToChild | LoadOrder): void => {
    // An error is that of a process which has just ended; its end is reported by itself.
    if (child.connected) child.send(message as object, () => undefined);
  };
  send(order);
  return {
    pid: child.pid,
    send,
    end: () => {
      child.kill("SIGKILL");
      return gone.promise;
    },
  };
};

function whenGone(child: ChildProcess, tell: (reason: string) => void): void {
  let isTold = false;
  const once = (reason: string): void => {
    if (isTold) return;
    isTold = true;
    tell(reason);
  };
  // Also of a message that cannot be sent, after which the process may still run.
  child.on("error", (error) => {
    if (child.pid === undefined) once(`its process cannot be started (${error.message})`);
  });
  child.once("close", (code, signal) => {
    once(`its process ended (${signal ?? `code ${String(code)}`})`);
  });
}
