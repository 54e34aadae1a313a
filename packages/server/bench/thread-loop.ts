/** Loaded into every thread of the benchmark's service (`--import`): the delay of the event loops of media threads. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread, threadName } from "node:worker_threads";

/** As in the service's own figures. */
const LOOP_RESOLUTION_MS = 1;

export const THREAD_PREFIX = "THREAD ";

if (!isMainThread && threadName === "media") {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  setInterval(() => {
    const p99Ms = Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS);
    const maxMs = Math.max(0, loop.max / 1e6 - LOOP_RESOLUTION_MS);
    loop.reset();
    process.stdout.write(`${THREAD_PREFIX}${JSON.stringify({ p99Ms, maxMs })}\n`);
  }, 1000).unref();
}
