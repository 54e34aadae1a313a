/** WebRTC signalling of calls: from an offer to a connected transport, and the HTTP requests to it in between. */

import { randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { Logger } from "pino";
import type {
  WebRtcAnswer,
  WebRtcConnection,
  WebRtcOffer,
  WebRtcPatched,
  WebRtcRenegotiated,
  WebRtcSignalling,
} from "./api.ts";
import type { TransportListener } from "../ports/transport.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import { checkedRoomOffer, keepsLines, roomAnswer, speakingLine } from "../transports/livekit/room-sdp.ts";
import { CallLimit } from "./call-limits.ts";
import type { RoomSockets } from "./rooms/room-sockets.ts";
import {
  DEFAULT_SILENCE_LIMIT_MS,
  type Leg,
  type LegOwner,
  type LegTransport,
  type OpenLeg,
} from "../transports/rtc/leg.ts";
import { NoLegError, NoPortError } from "../transports/rtc/peer.ts";
import {
  announcedAnswer,
  BadSdpError,
  checkedFragment,
  checkedOffer,
  credentialsOf,
  fragmentOf,
  restartedOffer,
} from "../transports/rtc/sdp.ts";

import { iceServerLinks, type WebRtcSettings } from "../config/webrtc.ts";

/** Timeout from the answer to flowing media; browsers need half a second, a bad network some seconds. */
const CONNECT_LIMIT_MS = 15_000;
/** Limit of offers that are answered and not connected yet, each with its own UDP port. */
const MAX_PENDING_PEERS = 256;
/**
 * Offers of one call that are given to the WebRTC library. Each costs a UDP port and a handshake. A client needs one,
 * and one more for each network that it loses for longer than a restart takes.
 */
const OFFERS_PER_CALL = { count: 5, windowMs: 60_000 };
/** Restarts of one call: a device that moves between networks needs some; beyond them it can join again. */
const RESTARTS_PER_CALL = { count: 10, windowMs: 60_000 };
/** Further offers of a room: each publication, change of the microphone and restart is one. */
const ROOM_OFFERS_PER_CALL = { count: 30, windowMs: 60_000 };
/** Wait for a client of a room that builds a new connection, which takes it some seconds. */
const ROOM_GRACE_MS = 10_000;
/** PATCH requests of one connection that wait for the one before. Clients that trickle send one for each candidate. */
const MAX_WAITING_PATCHES = 32;
/** Retry-After where too many of them wait; each takes some milliseconds. */
const PATCH_WAIT_MS = 1_000;

export interface WebRtcJoinsOptions {
  readonly host: string;
  readonly settings: WebRtcSettings;
  readonly liveCalls: Pick<LiveCalls, "accountOf" | "awaitsJoin" | "connectCall">;
  readonly openLeg: OpenLeg;
  /** The sockets at join URLs of clients that join rooms. */
  readonly roomSockets: RoomSockets;
  readonly logger: Logger;
  /** In tests only: `DEFAULT_SILENCE_LIMIT_MS`. */
  readonly silenceLimitMs?: number;
}

export interface WebRtcJoins extends WebRtcSignalling {
  /** Closes the offers of a call that are answered and not connected: another node has the call. */
  readonly drop: (callId: string) => void;
  /** Closes the transports that are not connected to a call. */
  readonly close: () => Promise<void>;
}

interface Joining {
  readonly callId: string;
  readonly leg: Leg;
  readonly isRoom: boolean;
  /** The last offer, for restarts. */
  offer: string;
  /** The answer to the last restart. */
  restarted: string | null;
  /** The last PATCH, when it is done. */
  patching: Promise<unknown>;
  waitingPatches: number;
  /** Null until media flow. */
  transport: LegTransport | null;
}

export function openWebRtcJoins(options: WebRtcJoinsOptions): WebRtcJoins {
  const joins = new Joins(options);
  return {
    iceServerLinks: iceServerLinks(options.settings.iceServers),
    offer: (input) => joins.offer(input),
    patch: (connection, text) => joins.patch(connection, text),
    renegotiate: (connection, sdp) => joins.renegotiate(connection, sdp),
    hangUp: (connection) => Promise.resolve(joins.hangUp(connection) ? "done" : "unknown"),
    drop: (callId) => joins.drop(callId),
    close: () => joins.close(),
  };
}

class Joins {
  readonly #options: WebRtcJoinsOptions;
  readonly #joinings = new Map<string, Joining>();
  readonly #offers = new CallLimit(OFFERS_PER_CALL);
  readonly #restarts = new CallLimit(RESTARTS_PER_CALL);
  readonly #roomOffers = new CallLimit(ROOM_OFFERS_PER_CALL);
  /** Calls of which an offer is being answered. */
  readonly #answering = new Set<string>();
  #addresses: Promise<readonly string[]> | null = null;

  constructor(options: WebRtcJoinsOptions) {
    this.#options = options;
  }

  /** A call has at most one offer that is being answered, and one that is answered and not connected. */
  async offer(input: WebRtcOffer): Promise<WebRtcAnswer> {
    const { callId, sdp, roomConnectionId } = input;
    const isRoom = roomConnectionId !== undefined;
    const offer = readOr(() => (isRoom ? checkedRoomOffer(sdp) : checkedOffer(sdp)));
    if (typeof offer !== "string") return offer;
    const query = isRoom ? this.#options.roomSockets.queryOf(callId) : input.query;
    // The client has closed its socket at the join URL.
    if (query === null) return { kind: "gone" };
    if (this.#answering.has(callId)) return { kind: "pending" };
    this.#answering.add(callId);
    try {
      return await this.#answer({ ...input, query, sdp: offer });
    } finally {
      this.#answering.delete(callId);
    }
  }

  async #answer({ callId, sdp: offer, query, roomConnectionId }: WebRtcOffer): Promise<WebRtcAnswer> {
    const { liveCalls } = this.#options;
    const isRoom = roomConnectionId !== undefined;
    const state = await liveCalls.awaitsJoin(callId);
    if (state !== "joinable") return { kind: state };
    const accountId = liveCalls.accountOf(callId);
    if (accountId === null) return { kind: "gone" };
    if (this.#answering.size + this.#pending().length > MAX_PENDING_PEERS) return { kind: "no_capacity" };
    const waitMs = this.#offers.take(callId, performance.now());
    if (waitMs > 0) return { kind: "too_many", waitMs };
    const leg = await this.#open(offer, { callId, accountId }, isRoom);
    if ("kind" in leg) return leg;
    // A client that repeats its offer has not received the first answer, or cannot use it.
    this.drop(callId);
    const connectionId = roomConnectionId ?? randomUUID();
    const joining: Joining = {
      callId,
      leg,
      isRoom,
      offer,
      restarted: null,
      patching: Promise.resolve(),
      waitingPatches: 0,
      transport: null,
    };
    this.#joinings.set(connectionId, joining);
    this.#connect(connectionId, joining, query).catch((error: unknown) => {
      this.#options.logger.error({ callId, error: String(error) }, "a WebRTC connection could not be used");
      this.#drop(connectionId, joining);
    });
    return { kind: "answered", sdp: this.#sent(leg.answer, joining), connectionId };
  }

  /** The answer of a leg as the client gets it. */
  #sent(answer: string, { isRoom, offer }: Joining): string {
    const announced = announcedAnswer(answer, this.#options.settings.announcedAddress);
    return isRoom ? roomAnswer(announced, speakingLine(offer) ?? "") : announced;
  }

  async renegotiate({ callId, connectionId }: WebRtcConnection, sdp: string): Promise<WebRtcRenegotiated> {
    const joining = this.#joinings.get(connectionId);
    if (joining?.callId !== callId || !joining.isRoom) return { kind: "unknown" };
    const offer = readOr(() => checkedRoomOffer(sdp));
    if (typeof offer !== "string") return offer;
    if (speakingLine(offer) !== speakingLine(joining.offer)) {
      return { kind: "refused", reason: "must keep the line on which the service speaks" };
    }
    if (joining.waitingPatches >= MAX_WAITING_PATCHES) return { kind: "too_many", waitMs: PATCH_WAIT_MS };
    const waitMs = this.#roomOffers.take(callId, performance.now());
    if (waitMs > 0) return { kind: "too_many", waitMs };
    return inTurn(joining, async () => {
      if (!keepsLines(joining.offer, offer)) {
        return { kind: "refused", reason: "must keep the lines of the offer before it (RFC 8829)" };
      }
      try {
        const answer = await joining.leg.restart(offer);
        joining.offer = offer;
        return { kind: "answered", sdp: this.#sent(answer, joining) };
      } catch (error) {
        if (!this.#joinings.has(connectionId)) return { kind: "unknown" };
        this.#options.logger.warn({ callId, error: String(error) }, "a further offer could not be answered");
        return { kind: "refused", reason: "cannot be answered by this service" };
      }
    });
  }

  async patch({ callId, connectionId }: WebRtcConnection, text: string): Promise<WebRtcPatched> {
    const joining = this.#joinings.get(connectionId);
    if (joining?.callId !== callId || joining.isRoom) return { kind: "unknown" };
    const fragment = readOr(() => checkedFragment(text));
    if (typeof fragment !== "string") return fragment;
    if (joining.waitingPatches >= MAX_WAITING_PATCHES) return { kind: "too_many", waitMs: PATCH_WAIT_MS };
    return inTurn(joining, () => this.#patch(connectionId, joining, fragment));
  }

  async #patch(connectionId: string, joining: Joining, fragment: string): Promise<WebRtcPatched> {
    const credentials = credentialsOf(fragment);
    // Candidates are not needed: clients find the service, and their checks reveal where they are.
    if (credentials === null) return { kind: "taken", fragment: null };
    if (credentials.ufrag === credentialsOf(joining.offer)?.ufrag) {
      // A client that repeats the same restart has not received the answer.
      const isAgain = !fragment.includes("a=candidate:");
      return { kind: "taken", fragment: isAgain ? joining.restarted : null };
    }
    const waitMs = this.#restarts.take(joining.callId, performance.now());
    if (waitMs > 0) return { kind: "too_many", waitMs };
    const offer = restartedOffer(joining.offer, credentials);
    try {
      const answer = await joining.leg.restart(offer);
      joining.offer = offer;
      joining.restarted = fragmentOf(this.#sent(answer, joining));
      return { kind: "taken", fragment: joining.restarted };
    } catch (error) {
      if (!this.#joinings.has(connectionId)) return { kind: "unknown" };
      this.#options.logger.warn({ callId: joining.callId, error: String(error) }, "an ICE restart failed");
      return { kind: "refused", reason: "could not be used for a restart" };
    }
  }

  hangUp({ callId, connectionId }: WebRtcConnection): boolean {
    const joining = this.#joinings.get(connectionId);
    if (joining?.callId !== callId) return false;
    if (joining.transport === null) this.#drop(connectionId, joining);
    else joining.transport.hangUp();
    return true;
  }

  drop(callId: string): void {
    for (const [id, joining] of this.#pending()) if (joining.callId === callId) this.#drop(id, joining);
  }

  async close(): Promise<void> {
    const joinings = [...this.#joinings.values()];
    this.#joinings.clear();
    await Promise.all(joinings.map(({ leg }) => leg.close()));
  }

  #pending(): [string, Joining][] {
    return [...this.#joinings].filter(([, { transport }]) => transport === null);
  }

  async #open(offer: string, owner: LegOwner, isRoom: boolean): Promise<Leg | WebRtcAnswer> {
    const { settings, host, openLeg } = this.#options;
    this.#addresses ??= bindAddresses(host, settings.announcedAddress);
    const addresses = await this.#addresses;
    const { portRange } = settings;
    const usual = { bindAddresses: addresses, portRange, connectLimitMs: CONNECT_LIMIT_MS };
    const legOptions = isRoom ? ({ ...usual, dialect: "room" } as const) : usual;
    try {
      return await openLeg(offer, legOptions, owner);
    } catch (error) {
      if (error instanceof NoPortError) {
        // The client may try again as often as it takes until one is free.
        this.#offers.giveBack(owner.callId);
        this.#options.logger.error("no UDP port is free for a WebRTC call: see WEBRTC_PORT_RANGE");
        return { kind: "no_capacity" };
      }
      if (error instanceof NoLegError) {
        this.#options.logger.error({ error: error.message }, "no further WebRTC call can be accepted now");
        return { kind: "no_capacity" };
      }
      // If the checks accept an offer and the library does not, the offer is at fault.
      this.#options.logger.info({ error: String(error) }, "an SDP offer could not be answered");
      return { kind: "refused", reason: "cannot be answered by this service" };
    }
  }

  async #connect(connectionId: string, joining: Joining, query: WebRtcOffer["query"]): Promise<void> {
    const { liveCalls, roomSockets, silenceLimitMs = DEFAULT_SILENCE_LIMIT_MS } = this.#options;
    const { callId, leg, isRoom } = joining;
    if (!(await leg.connected)) {
      this.#drop(connectionId, joining);
      return;
    }
    const outcome = await liveCalls.connectCall(
      callId,
      (_medium, listener) => {
        const attached: TransportListener = {
          audio: (samples) => listener.audio(samples),
          data: (text, tooLong) => listener.data(text, tooLong),
          problem: (problem) => listener.problem(problem),
          digit: (key) => listener.digit(key),
          played: (position) => listener.played(position),
          closed: (regular, code) => {
            this.#joinings.delete(connectionId);
            if (isRoom) roomSockets.left(callId, connectionId, { regular });
            listener.closed(regular, code);
          },
        };
        const ofRoom = { silenceLimitMs, graceMs: ROOM_GRACE_MS, mayReturn: true };
        const transport = leg.attach(isRoom ? ofRoom : { silenceLimitMs }, attached);
        joining.transport = transport;
        if (isRoom) roomSockets.joined(callId, { connectionId, listener, hangUp: () => transport.hangUp() });
        return transport;
      },
      query,
    );
    if (outcome === "connected") return;
    this.#drop(connectionId, joining);
  }

  #drop(connectionId: string, { leg }: Joining): void {
    this.#joinings.delete(connectionId);
    leg.close().catch((error: unknown) => {
      this.#options.logger.error({ error: String(error) }, "a WebRTC connection did not close");
    });
  }
}

/** Restarts and further offers run one after the other: each begins with the result of the one before it. */
function inTurn<Outcome>(joining: Joining, act: () => Promise<Outcome>): Promise<Outcome> {
  joining.waitingPatches += 1;
  const done = joining.patching.then(act);
  joining.patching = done
    .catch(() => undefined)
    .then(() => {
      joining.waitingPatches -= 1;
    });
  return done;
}

/** The value, or the refusal that a BadSdpError stands for. */
function readOr(read: () => string): string | { readonly kind: "refused"; readonly reason: string } {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadSdpError) return { kind: "refused", reason: error.message };
    throw error;
  }
}

/**
 * Own addresses on which media are received: the announced one if it is local; all that are not loopback if another
 * one is announced, or if the server listens on all; otherwise the server's own.
 */
async function bindAddresses(host: string, announced: string | null): Promise<readonly string[]> {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const outer = own.filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0);
  const all = outer.map(({ address }) => address);
  if (announced !== null) {
    if (own.some(({ address }) => address === announced)) return [announced];
    return all.filter((address) => isIP(address) === isIP(announced));
  }
  if (host === "0.0.0.0" || host === "") return all.filter((address) => isIP(address) === 4);
  if (host === "::") return all;
  return isIP(host) === 0 ? [(await lookup(host)).address] : [host];
}
