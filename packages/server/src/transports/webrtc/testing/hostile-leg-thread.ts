/** Threads of legs in which a test can cause what a fault of the library would do. */

import { BroadcastChannel } from "node:worker_threads";
import { legThreadsOf } from "../../rtc/leg-thread.ts";

export const HOSTILE_CHANNEL = "hostile-leg-threads";

/** A timer of the connection that is to send a message with this text throws. */
export const THROWING_TIMESTAMP = 666_666;

/** An endless loop; an endless loop that keeps what it makes. */
export type Harm = "hang" | "grow";

export const startHostileLegThread = legThreadsOf(
  new URL("./hostile-leg-worker.ts", import.meta.url),
  "webrtc",
);

/** In all threads of this process that are ready now. */
export function harm(what: Harm): void {
  const channel = new BroadcastChannel(HOSTILE_CHANNEL);
  const send = channel.postMessage.bind(channel);
  send(what);
  channel.close();
}
