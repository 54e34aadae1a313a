/** Starts a process of callers, and waits for what it says. */

import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { FromCallers, ToCallers } from "./messages.ts";

const READY_LIMIT_MS = 60_000;
const END_LIMIT_MS = 10_000;

export interface CallersProcess {
  send(message: ToCallers): void;
  /** The next message of this type. Rejects when the process ends, reports a fault, or the limit is over. */
  next<Type extends FromCallers["type"]>(
    type: Type,
    limitMs: number,
  ): Promise<Extract<FromCallers, { readonly type: Type }>>;
  stop(): Promise<void>;
}

/** @param take gets all messages */
export async function startCallers(
  take: (message: FromCallers, callers: CallersProcess) => void,
): Promise<CallersProcess> {
  const child = fork(fileURLToPath(new URL("./callers.ts", import.meta.url)), { execArgv: [] });
  const waiting = new Set<(message: FromCallers | Error) => void>();
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const callers: CallersProcess = {
    send: (message) => {
      if (child.connected) child.send(message);
    },
    next: (type, limitMs) =>
      new Promise((resolve, reject) => {
        const settle = (message: FromCallers | Error): void => {
          if (message instanceof Error) reject(message);
          else if (message.type === "fault") reject(new Error(message.detail));
          else if (isOf(message, type)) resolve(message);
          else return;
          clearTimeout(late);
          waiting.delete(settle);
        };
        const late = setTimeout(
          () => settle(new Error(`the callers have not said ${type} in time`)),
          limitMs,
        );
        waiting.add(settle);
      }),
    stop: async () => {
      if (child.connected) child.disconnect();
      const killer = setTimeout(() => child.kill("SIGKILL"), END_LIMIT_MS);
      await exited;
      clearTimeout(killer);
    },
  };
  child.on("message", (message: FromCallers) => {
    take(message, callers);
    for (const settle of waiting) settle(message);
  });
  void exited.then(() => {
    for (const settle of waiting) settle(new Error("the process of the callers has ended"));
  });
  await callers.next("ready", READY_LIMIT_MS);
  return callers;
}

function isOf<Type extends FromCallers["type"]>(
  message: FromCallers,
  type: Type,
): message is Extract<FromCallers, { readonly type: Type }> {
  return message.type === type;
}
