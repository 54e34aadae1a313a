/** Thread entry: holds the peer connections and codecs of calls, so that none of their work is on the main thread. */

import { parentPort } from "node:worker_threads";
import { AudioBatcher, eachPiece, type FromLegThread, type ToLegThread } from "../rtc/leg-protocol.ts";
import { type LocalLeg, openLocalLeg } from "../rtc/local-leg.ts";
import { warmOpus } from "../rtc/opus.ts";
import { NoPortError } from "../rtc/peer.ts";
import { openWeriftPeer, warmWerift } from "../rtc/werift-peer.ts";
import { openWebRtcTransport } from "./webrtc-transport.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** Faults that no call can be named for. A thread with more of them is broken, and is replaced. */
const MAX_FAULTS = 100;

type About<Type extends ToLegThread["type"]> = Extract<ToLegThread, { readonly type: Type }>;

const LEG_PARTS = { openPeer: openWeriftPeer, openTransport: openWebRtcTransport };

const legs = new Map<number, LocalLeg>();
/** Told to go before they were open. */
const unwanted = new Set<number>();
const heard = new AudioBatcher();
let isSending = false;
let faults = 0;

function say(message: FromLegThread): void {
  const transferred =
    message.type === "audio" ? [message.batch.index.buffer, message.batch.samples.buffer] : [];
  parentPort?.postMessage(message, transferred);
}

/** What came in this turn of the loop goes in one message. */
function hear(legId: number, samples: Int16Array): void {
  heard.add(legId, samples);
  if (isSending) return;
  isSending = true;
  setImmediate(() => {
    isSending = false;
    say({ type: "audio", batch: heard.take() });
  });
}

async function open({ legId, offer, options }: About<"open">): Promise<void> {
  try {
    const leg = await openLocalLeg(LEG_PARTS, offer, options);
    if (unwanted.delete(legId)) {
      await leg.close();
      return;
    }
    legs.set(legId, leg);
    say({ type: "opened", legId, answer: leg.answer });
    say({ type: "connected", legId, connected: await leg.connected });
  } catch (error) {
    unwanted.delete(legId);
    say({ type: "notOpened", legId, noPort: error instanceof NoPortError, detail: messageOf(error) });
  }
}

function attach({ legId, options }: About<"attach">): void {
  legs.get(legId)?.attach(options, {
    audio: (samples) => hear(legId, samples),
    data: (text, tooLong) => say({ type: "data", legId, text, tooLong }),
    problem: (problem) => say({ type: "problem", legId, problem }),
    closed: (regular, code) => say({ type: "closed", legId, regular, code }),
  });
}

async function restart({ legId, requestId, offer }: About<"restart">): Promise<void> {
  const leg = legs.get(legId);
  try {
    if (leg === undefined) throw new Error("the connection is gone");
    say({ type: "restarted", legId, requestId, answer: await leg.restart(offer), detail: "" });
  } catch (error) {
    say({ type: "restarted", legId, requestId, answer: null, detail: messageOf(error) });
  }
}

async function probe({ legId, requestId, limitMs }: About<"probe">): Promise<void> {
  const alive = (await legs.get(legId)?.transport?.probe(limitMs)) ?? false;
  say({ type: "probed", legId, requestId, alive });
}

async function drop(legId: number): Promise<void> {
  const leg = legs.get(legId);
  if (leg === undefined) unwanted.add(legId);
  legs.delete(legId);
  await leg?.close();
  say({ type: "gone", legId });
}

async function finish(): Promise<void> {
  await Promise.allSettled([...legs.values()].map((leg) => leg.close()));
  process.exit();
}

async function act(message: ToLegThread): Promise<void> {
  switch (message.type) {
    case "audio":
      eachPiece(message.batch, (legId, frame) => legs.get(legId)?.transport?.sendAudio(frame));
      break;
    case "open":
      await open(message);
      break;
    case "attach":
      attach(message);
      break;
    case "restart":
      await restart(message);
      break;
    case "text":
      legs.get(message.legId)?.transport?.sendText(message.text);
      break;
    case "probe":
      await probe(message);
      break;
    case "closeTransport":
      legs.get(message.legId)?.transport?.close(message.code, "");
      break;
    case "hangUp":
      legs.get(message.legId)?.transport?.hangUp();
      break;
    case "drop":
      await drop(message.legId);
      break;
    case "finish":
      await finish();
      break;
  }
}

function fault(error: unknown): void {
  say({ type: "fault", detail: messageOf(error) });
  faults += 1;
  if (faults > MAX_FAULTS) process.exit(1);
}

// The library works in callbacks of sockets and timers of one connection each: what one of them throws must not end the
// others. The call that it belonged to ends by its silence.
process.on("uncaughtException", fault);
process.on("unhandledRejection", fault);

parentPort?.on("message", (message: ToLegThread) => void act(message).catch(fault));
await Promise.all([warmWerift(), warmOpus()]);
say({ type: "ready" });
