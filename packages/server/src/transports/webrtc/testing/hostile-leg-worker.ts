/** Thread entry: a thread of legs as it is, which also does what a fault of the library would do when it is told to. */

import { BroadcastChannel } from "node:worker_threads";
import { RTCDataChannel } from "werift";
import "../../../app/media-threads/media-worker.ts";
import { HOSTILE_CHANNEL, type Harm, THROWING_TIMESTAMP } from "./hostile-leg-thread.ts";

const HARM: Readonly<Record<Harm, () => void>> = {
  hang: () => {
    for (;;);
  },
  grow: () => {
    const kept: unknown[] = [];
    for (;;) kept.push({ number: kept.length });
  },
};

new BroadcastChannel(HOSTILE_CHANNEL).addEventListener("message", (event) => {
  if ("data" in event && isHarm(event.data)) HARM[event.data]();
});

function isHarm(value: unknown): value is Harm {
  return typeof value === "string" && Object.hasOwn(HARM, value);
}

const send: unknown = Reflect.get(RTCDataChannel.prototype, "send");
if (typeof send !== "function") throw new Error("The library sends messages in another way.");
RTCDataChannel.prototype.send = function sendOrThrow(data: Buffer | string) {
  Reflect.apply(send, this, [data]);
  if (!String(data).includes(String(THROWING_TIMESTAMP))) return;
  setTimeout(() => {
    throw new Error(`what a callback throws on ${String(data)}`);
  });
};
