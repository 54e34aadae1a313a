/** The common part of the programs that run in the process of a model. */

import { createRequire } from "node:module";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../pacing/error-text.ts";
import { checkFiles } from "./check-files.ts";
import type { FromChild } from "./child-protocol.ts";
import type { LoadOrder } from "./local-model.ts";

export type Tell<Answer> = (message: FromChild<Answer>) => void;

type Take<ToChild> = (message: ToChild) => void;

/** Returns what takes the messages that follow. */
export type LoadModel<ToChild, Answer, Order extends LoadOrder = LoadOrder> = (
  order: Order,
  tell: Tell<Answer>,
) => Take<ToChild> | Promise<Take<ToChild>>;

/** After so many native objects their memory is released, which the collector of JavaScript does not see. */
const RELEASES_PER_COLLECTION = 32;

/**
 * Loads the model and answers messages. The process ends when the service ends, whatever that died of.
 * @param load returns what takes the messages that follow
 */
export function runModel<ToChild, Answer, Order extends LoadOrder = LoadOrder>(
  load: LoadModel<ToChild, Answer, Order>,
): void {
  // A terminal sends its signals to the whole group; the service decides when this process ends.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  process.on("disconnect", () => process.exit(0));
  const tell: Tell<Answer> = (message) => {
    process.send?.(message, undefined, undefined, () => undefined);
  };
  process.once("message", (order) => {
    start(order as Order, tell, load).catch((error: unknown) => {
      const message: FromChild<Answer> = { type: "unusable", detail: messageOf(error) };
      process.send?.(message, undefined, undefined, () => process.exit(1));
    });
  });
}

async function start<ToChild, Answer, Order extends LoadOrder>(
  order: Order,
  tell: Tell<Answer>,
  load: LoadModel<ToChild, Answer, Order>,
): Promise<void> {
  // Before the model starts its threads, which inherit it: frames of calls must not wait for a model.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  await checkFiles(order.model.files);
  const take = await load(order, tell);
  process.on("message", (message) => take(message as ToChild));
  tell({ type: "ready" });
}

/** The package of the order. It has no types of its own that are used here. */
export function loadPackage(packageFolder: string): unknown {
  const path = join(packageFolder, "package.json");
  const require = createRequire(path);
  return require(packageFolder) as unknown;
}

let released = 0;

/** To be called when an object of the package is no longer used. */
export function releasedOne(): void {
  released += 1;
  if (released % RELEASES_PER_COLLECTION === 0) globalThis.gc?.();
}
