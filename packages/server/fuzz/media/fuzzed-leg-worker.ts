/** Thread entry: a thread of connections as it is, which also collects its garbage when it is told to. */

import { BroadcastChannel } from "node:worker_threads";
import "../../src/app/media-threads/media-worker.ts";
import { COLLECTED, COLLECTION_CHANNEL, COLLECT } from "./fuzzed-leg-thread.ts";
import { collectGarbage } from "./garbage.ts";

const channel = new BroadcastChannel(COLLECTION_CHANNEL);
const answer = channel.postMessage.bind(channel);
channel.addEventListener("message", (event) => {
  if (!("data" in event) || event.data !== COLLECT) return;
  collectGarbage();
  answer(COLLECTED);
});
