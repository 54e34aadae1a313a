/** Garbage is collected before memory is measured. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");

/**
 * Of the thread that calls, at once; it takes some 100 ms. Other collections leave the heap its empty pages, as many as
 * it needed while most objects were made: V8 returns them to the system when few objects are made for some seconds. Only
 * this one returns them all, so that the memory of the process afterwards is what is in use.
 */
export function collectGarbage(): void {
  if (typeof collect !== "function") throw new Error("garbage cannot be collected");
  collect({ type: "major", flavor: "last-resort" });
}
