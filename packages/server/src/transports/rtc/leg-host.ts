/** The part of a thread of legs that is the same for every kind: takes messages, holds the legs, contains their faults. */

import { AsyncLocalStorage } from "node:async_hooks";
import { parentPort } from "node:worker_threads";
import { messageOf } from "../../pacing/error-text.ts";
import { kindOf } from "./error-kind.ts";
import { FaultTally } from "./fault-tally.ts";
import type { HostedLeg, LegKinds } from "./hosted-leg.ts";
import { AudioBatcher, eachPiece, type FromLegThread, type ToLegThread } from "./leg-protocol.ts";
import type { LegRequest } from "./leg-request.ts";
import { NoPortError } from "./peer.ts";

/** Faults of a minute that no call can be named for. A thread with more of them is broken, and is replaced. */
const MAX_UNNAMED_FAULTS = 100;
const MINUTE_MS = 60_000;

type About<Type extends ToLegThread["type"]> = Extract<ToLegThread, { readonly type: Type }>;

const legs = new Map<number, HostedLeg>();
/** Told to go before they were open. */
const unwanted = new Set<number>();
/** The leg for which code runs: sockets, timers and promises inherit it from the code that made them. */
const legContext = new AsyncLocalStorage<number>();
const heard = new AudioBatcher();
const tally = new FaultTally();
let isSending = false;
let unnamedFaults = 0;
let unnamedSinceMs = 0;

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

function openLeg(kinds: LegKinds, request: LegRequest): Promise<HostedLeg> {
  return request.kind === "webRtc" ? kinds.webRtc(request) : kinds.rtp(request);
}

async function open(kinds: LegKinds, { legId, request }: About<"open">): Promise<void> {
  try {
    const leg = await openLeg(kinds, request);
    if (unwanted.delete(legId)) {
      await leg.close();
      return;
    }
    legs.set(legId, leg);
    void leg.faulty.then((faults) => say({ type: "faulty", legId, faults }));
    say({ type: "opened", legId, opening: leg.opening });
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
    digit: (key) => say({ type: "digit", legId, key }),
    played: (position) => say({ type: "played", legId, position }),
    figures: (figures) => say({ type: "figures", legId, figures }),
    closed: (regular, code) => say({ type: "closed", legId, regular, code }),
  });
}

/** What one leg throws must not cost the frames of the others. */
function sendAudio(legId: number, frame: Int16Array): void {
  legContext.run(legId, () => {
    try {
      legs.get(legId)?.transport?.sendAudio(frame);
    } catch (error) {
      fault(error);
    }
  });
}

async function restart({ legId, requestId, offer }: About<"restart">): Promise<void> {
  const leg = legs.get(legId);
  try {
    if (leg?.restart === undefined) throw new Error("the connection is closed");
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

/** Without effect when one of them is gone: its end ends the other one. */
function bridge(one: HostedLeg | undefined, other: HostedLeg | undefined): void {
  const [first, second] = [one?.transport ?? null, other?.transport ?? null];
  if (first === null || second === null) return;
  first.relayTo?.(second);
  second.relayTo?.(first);
}

/** What changes the audio of a leg. */
async function actOnAudio(
  message: About<"agree" | "mark" | "clearAudio" | "digits" | "music" | "bridge" | "text">,
): Promise<void> {
  const leg = legs.get(message.legId);
  switch (message.type) {
    case "agree":
      await leg?.agree?.(message.media);
      break;
    case "mark":
      leg?.transport?.mark?.(message.position);
      break;
    case "clearAudio":
      leg?.transport?.clearAudio?.(message.tail);
      break;
    case "digits":
      leg?.transport?.sendDigits?.(message.digits);
      break;
    case "music":
      leg?.transport?.playMusic?.(message.samples);
      break;
    case "bridge":
      bridge(leg, legs.get(message.otherLegId));
      break;
    case "text":
      leg?.transport?.sendText(message.text);
      break;
  }
}

async function act(kinds: LegKinds, message: ToLegThread): Promise<void> {
  switch (message.type) {
    case "audio":
      eachPiece(message.batch, sendAudio);
      break;
    case "open":
      await open(kinds, message);
      break;
    case "attach":
      attach(message);
      break;
    case "restart":
      await restart(message);
      break;
    case "agree":
    case "mark":
    case "clearAudio":
    case "digits":
    case "music":
    case "bridge":
    case "text":
      await actOnAudio(message);
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
    case "ping":
      say({ type: "pong", pingId: message.pingId });
      break;
    case "finish":
      await finish();
      break;
  }
}

/** Ends the leg that it belongs to when that has had too many, and no other. */
function fault(error: unknown): void {
  const detail = kindOf(error);
  const legId = legContext.getStore();
  if (legId !== undefined && legs.get(legId)?.fault(detail) === true) return;
  const nowMs = performance.now();
  const count = tally.add(nowMs);
  if (count !== null) say({ type: "fault", count, detail });
  if (legId !== undefined) return;
  if (nowMs - unnamedSinceMs > MINUTE_MS) {
    unnamedSinceMs = nowMs;
    unnamedFaults = 0;
  }
  unnamedFaults += 1;
  if (unnamedFaults > MAX_UNNAMED_FAULTS) process.exit(1);
}

function take(kinds: LegKinds, message: ToLegThread): void {
  const begin = (): void => void act(kinds, message).catch(fault);
  if ("legId" in message) legContext.run(message.legId, begin);
  else begin();
}

/** @param warmings do once what takes long the first time */
export async function hostLegs(kinds: LegKinds, warmings: readonly (() => Promise<void>)[]): Promise<void> {
  // The libraries work in callbacks of sockets and timers of one connection each: what one of them throws must not end
  // the others.
  process.on("uncaughtException", fault);
  process.on("unhandledRejection", fault);
  parentPort?.on("message", (message: ToLegThread) => take(kinds, message));
  await Promise.all(warmings.map((warm) => warm()));
  say({ type: "ready" });
}
