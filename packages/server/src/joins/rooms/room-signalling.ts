/** One signalling socket of a LiveKit client (version 1): its requests, answered one after the other. */

import { randomUUID } from "node:crypto";
import type { Logger } from "pino";
import {
  answerMessage,
  BadSignalError,
  type IceServerPart,
  joinMessage,
  type JoinRequestRead,
  type LeaveCause,
  leaveMessage,
  type OfferRead,
  pongMessages,
  publishedMessage,
  readJoinRequest,
  readSignal,
  reconnectMessage,
} from "../../transports/livekit/signal.ts";
import { speakingLine } from "../../transports/livekit/room-sdp.ts";
import { SocketLine } from "../../transports/socket-line.ts";
import type { JoinQuery, RoomSignalInput, WebRtcSignalling } from "../api.ts";
import type { RoomSockets } from "./room-sockets.ts";

/** Requests that wait for the one before. A client sends some 20 at its join, most of them candidates. */
const MAX_WAITING_REQUESTS = 256;
/** Bytes of the requests that wait: more than three of the longest. */
const MAX_WAITING_BYTES = 256 * 1_024;
/** A socket on which no offer was answered for so long belongs to no room. Clients send one at once. */
const OFFER_LIMIT_MS = 30_000;
/** Before it, the name of a participant; after it, the id of its connection. */
const SID_PREFIX = "PA_";
const CONNECTION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The query of a room is that of its join URL, which the process with the socket there knows. */
const NO_QUERY: JoinQuery = { clientVersion: null, apiVersion: null, experimentalMessages: [] };

const CODE_REGULAR = 1000;
const CODE_REPLACED = 1001;
const CODE_BROKEN = 1003;
/** Too many requests, or none that is of use. */
const CODE_REFUSED = 1008;
const CODE_FAILED = 1011;

export interface RoomSignallingParts {
  readonly webRtc: Pick<WebRtcSignalling, "offer" | "renegotiate">;
  readonly roomSockets: Pick<RoomSockets, "watch">;
  readonly iceServers: readonly IceServerPart[];
  readonly logger: Pick<Logger, "info" | "error">;
}

export interface OpenSignalling {
  /** Another socket takes its place. */
  replace(): void;
}

/**
 * Takes over an open socket.
 *
 * @param closed called once, when it is over
 */
export function openRoomSignalling(
  parts: RoomSignallingParts,
  input: RoomSignalInput,
  closed: () => void = () => undefined,
): OpenSignalling {
  const signalling = new RoomSignalling(parts, input, closed);
  signalling.begin(input.joinRequest);
  return signalling;
}

class RoomSignalling {
  readonly #parts: RoomSignallingParts;
  readonly #callId: string;
  readonly #line: SocketLine;
  readonly #closed: () => void;
  readonly #answered: () => void;
  readonly #unused: NodeJS.Timeout;
  /** The last request, when it is done. */
  #work: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;
  #connectionId = "";
  #isAnswered = false;
  #tracks = 0;
  #isOver = false;
  #unwatch: (() => void) | null = null;

  constructor(parts: RoomSignallingParts, { callId, socket, answered }: RoomSignalInput, closed: () => void) {
    this.#parts = parts;
    this.#callId = callId;
    this.#closed = closed;
    this.#answered = answered;
    this.#unused = setTimeout(() => this.#close(CODE_REFUSED), OFFER_LIMIT_MS);
    this.#line = new SocketLine(socket, {
      frame: (data) => this.#inTurn(data.byteLength, () => this.#answer(data)),
      congested: () => undefined,
      closed: () => this.#close(CODE_REGULAR),
    });
  }

  begin(joinRequest: string): void {
    this.#watch();
    this.#inTurn(joinRequest.length, () => this.#join(readJoinRequest(joinRequest)));
  }

  /** The room of a client that continues may open again after this socket. */
  #watch(): void {
    this.#unwatch?.();
    this.#unwatch = this.#parts.roomSockets.watch(this.#callId, () => this.#leave("over"));
  }

  /** Requests are answered in order, and a client that sends too many at once is disconnected. */
  #inTurn(bytes: number, act: () => Promise<void> | void): void {
    if (this.#isOver) return;
    if (this.#waiting >= MAX_WAITING_REQUESTS || this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#close(CODE_REFUSED);
      return;
    }
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    this.#work = this.#work.then(async () => {
      this.#waiting -= 1;
      this.#waitingBytes -= bytes;
      if (this.#isOver) return;
      try {
        await act();
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  #fail(error: unknown): void {
    const { logger } = this.#parts;
    if (error instanceof BadSignalError) {
      logger.info(
        { callId: this.#callId, reason: error.message },
        "a signalling message of a room was refused",
      );
      this.#close(CODE_BROKEN);
      return;
    }
    logger.error({ callId: this.#callId, err: error }, "the signalling of a room failed");
    this.#close(CODE_FAILED);
  }

  async #join({ isReconnect, participantSid, offer, client }: JoinRequestRead): Promise<void> {
    const { iceServers, logger } = this.#parts;
    logger.info({ callId: this.#callId, client, isReconnect }, "a client joins a room");
    if (isReconnect) {
      const id = participantSid.startsWith(SID_PREFIX) ? participantSid.slice(SID_PREFIX.length) : "";
      if (!CONNECTION_ID.test(id)) throw new BadSignalError("continues no connection of this service");
      this.#connectionId = id;
      this.#isAnswered = true;
      this.#line.sendMessage(reconnectMessage(iceServers));
    } else {
      this.#connectionId = randomUUID();
      const participant = `${SID_PREFIX}${this.#connectionId}`;
      const nowMs = Date.now();
      this.#line.sendMessage(
        joinMessage({ callId: this.#callId, participantSid: participant, nowMs, iceServers }),
      );
    }
    if (offer !== null) await this.#answerOffer(offer);
  }

  async #answer(data: Buffer): Promise<void> {
    const request = readSignal(data);
    switch (request.kind) {
      case "offer":
        await this.#answerOffer(request.offer);
        break;
      case "track":
        // Where video or the sound of a screen is published the client gets no answer, and gives up.
        if (request.track.isMicrophone) {
          this.#tracks += 1;
          const sid = `TR_user_${String(this.#tracks)}`;
          this.#line.sendMessage(publishedMessage(request.track, sid));
        }
        break;
      case "ping":
        this.#line.sendMessage(pongMessages(request, Date.now()));
        break;
      case "leave":
        // Also sent by a client that joins again. One that leaves the call closes its media and its other socket.
        this.#close(CODE_REGULAR);
        break;
      case "other":
        break;
    }
  }

  async #answerOffer({ id, sdp }: OfferRead): Promise<void> {
    const { webRtc, logger } = this.#parts;
    const connection = { callId: this.#callId, connectionId: this.#connectionId };
    const answer = this.#isAnswered
      ? await webRtc.renegotiate(connection, sdp)
      : await webRtc.offer({
          callId: this.#callId,
          sdp,
          query: NO_QUERY,
          roomConnectionId: this.#connectionId,
        });
    if (answer.kind === "answered") {
      this.#isAnswered = true;
      clearTimeout(this.#unused);
      if (this.#isOver) return;
      this.#watch();
      this.#answered();
      this.#line.sendMessage(answerMessage(id, answer.sdp, speakingLine(sdp) ?? ""));
      return;
    }
    const reason = answer.kind === "refused" ? answer.reason : answer.kind;
    logger.info({ callId: this.#callId, reason }, "an offer of a room was not answered");
    if (answer.kind === "joined") this.#leave("joined");
    else this.#leave(answer.kind === "gone" || answer.kind === "unknown" ? "over" : "failed");
  }

  replace(): void {
    this.#close(CODE_REPLACED);
  }

  #leave(cause: LeaveCause): void {
    if (this.#isOver) return;
    this.#line.sendMessage(leaveMessage(cause));
    this.#close(CODE_REGULAR);
  }

  #close(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#unused);
    this.#unwatch?.();
    this.#line.close(code, "");
    this.#closed();
  }
}
