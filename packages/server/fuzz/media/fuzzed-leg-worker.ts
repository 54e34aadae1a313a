/** Thread entry: a thread of connections as it is, which also collects its garbage when it is told to. */

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { BroadcastChannel } from "node:worker_threads";
import "../../src/app/media-threads/media-worker.ts";
import { COLLECTED, COLLECTION_CHANNEL, COLLECT } from "./fuzzed-leg-thread.ts";

setFlagsFromString("--expose-gc");
const collect: unknown = runInNewContext("gc");
if (typeof collect !== "function") throw new Error("garbage cannot be collected");
const channel = new BroadcastChannel(COLLECTION_CHANNEL);
const answer = channel.postMessage.bind(channel);
channel.addEventListener("message", (event) => {
  if (!("data" in event) || event.data !== COLLECT) return;
  collect();
  answer(COLLECTED);
});
