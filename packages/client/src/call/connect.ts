/**
 * From a join URL to a link that has joined the call: by WebRTC, or by a websocket if WebRTC fails. Both may try at the
 * same time; the service gives the call to one of them, and its messages there show which.
 */

import type { SocketRates } from "../audio/socket-audio.ts";
import type { Sound } from "../audio/sound.ts";
import { CallError } from "./call-error.ts";
import { Inbox } from "./inbox.ts";
import type { JoinAddress } from "./join-url.ts";
import type { Link } from "./link.ts";
import { PeerLink } from "./peer-link.ts";
import { SocketLink } from "./socket-link.ts";

/** From the offer to a joined call. The service drops an offer after the same time. */
const JOIN_LIMIT_MS = 15_000;
/** Requested by a websocket at a WebRTC join URL: 16-bit mono samples at this rate in both directions. */
export const AUDIO_PROTOCOL = "parley.s16le.16000";
const AUDIO_PROTOCOL_RATE_HZ = 16_000;

export interface Route {
  readonly address: JoinAddress;
  /** `auto`: WebRTC, and also a websocket if no media arrive within `fallbackAfterMs`. */
  readonly transport: "auto" | "webRtc" | "webSocket";
  readonly fallbackAfterMs: number;
  readonly iceServers: readonly RTCIceServer[];
  readonly iceTransportPolicy: RTCIceTransportPolicy;
  /** The sample rates of a call created for websockets; null otherwise. */
  readonly rates: SocketRates | null;
  readonly workletUrl: string | null;
}

export interface Joined {
  readonly link: Link;
  /** Holds the messages of the link so far. */
  readonly inbox: Inbox;
}

/** @throws CallError; `signal.reason` when it is aborted. Nothing stays open then. */
export async function connect(
  route: Route,
  sound: Sound,
  track: MediaStreamTrack,
  signal: AbortSignal,
): Promise<Joined> {
  signal.throwIfAborted();
  const attempts: Joined[] = [];
  const over = new AbortController();
  try {
    const joined = await Promise.race([
      firstToJoin(route, { sound, track, attempts, signal: over.signal }),
      rejectedBy(signal, (reason) => reason),
      rejectedBy(AbortSignal.timeout(JOIN_LIMIT_MS), tooLate),
    ]);
    for (const other of attempts) if (other.link !== joined.link) other.link.drop();
    return joined;
  } catch (error) {
    for (const { link } of attempts) link.drop();
    throw error;
  } finally {
    over.abort();
  }
}

interface Race {
  readonly sound: Sound;
  readonly track: MediaStreamTrack;
  /** All attempts. */
  readonly attempts: Joined[];
  /** Aborted when no more attempts should start. */
  readonly signal: AbortSignal;
}

async function firstToJoin(route: Route, race: Race): Promise<Joined> {
  if (!byPeer(route)) return joinedBySocket(route, race);
  const inbox = new Inbox();
  const { iceServers, iceTransportPolicy, address, transport, fallbackAfterMs } = route;
  const { track, attempts } = race;
  const link = new PeerLink({ url: address.http, iceServers, iceTransportPolicy, track, listener: inbox });
  const joined = { link, inbox };
  attempts.push(joined);
  const byWebRtc = link.joined.then(() => joined);
  if (transport === "webRtc") return byWebRtc;
  await Promise.race([byWebRtc.catch(throwFinal), link.stuck, after(fallbackAfterMs, race.signal)]);
  if (link.hasJoined || race.signal.aborted) return byWebRtc;
  const bySocket = joinedBySocket(route, race);
  try {
    return await Promise.any([byWebRtc, bySocket]);
  } catch (failures) {
    // Both failed: a definite answer of the service says more than a network error.
    const errors: unknown[] = failures instanceof AggregateError ? failures.errors : [failures];
    throw errors.find((error) => error instanceof CallError && error.code !== "network") ?? errors.at(-1);
  }
}

function byPeer({ address, transport }: Route): boolean {
  const canPeer = typeof RTCPeerConnection !== "undefined";
  if (transport === "webRtc" && !canPeer) throw new CallError("unsupported", "This browser has no WebRTC.");
  return address.byWebRtc && canPeer && transport !== "webSocket";
}

async function joinedBySocket(route: Route, { sound, track, attempts }: Race): Promise<Joined> {
  const { address, rates, workletUrl } = route;
  const inbox = new Inbox();
  const link = new SocketLink({
    url: address.socket,
    protocol: address.byWebRtc ? AUDIO_PROTOCOL : null,
    rates: rates ?? { inputSampleRateHz: AUDIO_PROTOCOL_RATE_HZ, outputSampleRateHz: AUDIO_PROTOCOL_RATE_HZ },
    workletUrl,
    sound,
    track,
    listener: inbox,
  });
  const joined = { link, inbox };
  attempts.push(joined);
  await link.joined;
  return joined;
}

/** Errors that another transport cannot fix end the attempt; after others, it is tried. */
function throwFinal(error: unknown): void {
  if (error instanceof CallError && error.code !== "network") throw error;
}

function tooLate(cause: unknown): CallError {
  return new CallError(
    "network",
    "No media arrived. Check that the network allows outgoing UDP and that the service's UDP ports are open.",
    { cause },
  );
}

function after(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function rejectedBy(signal: AbortSignal, reasonOf: (reason: unknown) => unknown): Promise<never> {
  return new Promise((_resolve, reject) => {
    const abort = () => reject(reasonOf(signal.reason));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
