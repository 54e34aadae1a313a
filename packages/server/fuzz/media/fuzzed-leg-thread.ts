/** Threads of connections whose memory can be measured without garbage. */

import { BroadcastChannel } from "node:worker_threads";
import { legThreadsOf } from "../../src/transports/rtc/leg-thread.ts";

export const COLLECTION_CHANNEL = "fuzzed-leg-threads";
export const COLLECT = "collect";
export const COLLECTED = "collected";
/** A collection takes some 100 ms. Threads that are stuck do not answer. */
const COLLECTION_LIMIT_MS = 10_000;

export const startFuzzedLegThread = legThreadsOf(
  new URL("./fuzzed-leg-worker.ts", import.meta.url),
  "webrtc",
);

/** Collects the garbage of all such threads of this process; false: none of them has answered. */
export async function collectThreadGarbage(): Promise<boolean> {
  const channel = new BroadcastChannel(COLLECTION_CHANNEL);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  channel.addEventListener("message", (event) => {
    if ("data" in event && event.data === COLLECTED) resolve(true);
  });
  const late = setTimeout(() => resolve(false), COLLECTION_LIMIT_MS);
  const send = channel.postMessage.bind(channel);
  send(COLLECT);
  const isCollected = await promise;
  clearTimeout(late);
  channel.close();
  return isCollected;
}
