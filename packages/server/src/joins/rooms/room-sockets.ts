/**
 * The sockets at join URLs of clients that join rooms. A client reads `room_info` on it and nothing else, sends its long
 * messages on it, and leaves the room when it is closed. The media are a connection of WebRTC beside it.
 */

import type { TransportListener } from "../../ports/transport.ts";
import { isRegularClose, SocketLine } from "../../transports/socket-line.ts";
import type { JoinQuery, OpenRoomInput } from "../api.ts";

/** From `room_info` to flowing media. A user may be asked for the microphone meanwhile. */
const JOIN_LIMIT_MS = 60_000;
/** After lost media: the grace of rooms, and one more connection attempt. */
const RETURN_LIMIT_MS = 15_000;
/** UTF-8 bytes of one data message; longer ones are reported and cut off. */
const LONGEST_MESSAGE_BYTES = 256 * 1024;
const CUT_MESSAGE_BYTES = 1_024;

const CODE_REGULAR = 1000;
const CODE_REPLACED = 1001;
const CODE_FAILED = 1011;
const CODE_NO_MEDIA = 4406;

/** The connection of a room, once it is the medium of its call. */
export interface RoomMedium {
  readonly connectionId: string;
  readonly listener: TransportListener;
  /** Ends it, and the call with it. */
  hangUp(): void;
}

export interface RoomSocketsOptions {
  /** Ends a call whose client has left while its connection was lost. */
  readonly endCall: (callId: string) => void;
  /** In tests only: `JOIN_LIMIT_MS`. */
  readonly joinLimitMs?: number;
}

interface RoomSocket {
  readonly line: SocketLine;
  readonly query: JoinQuery;
  /** Called when media flow. */
  readonly joined: () => void;
  medium: RoomMedium | null;
  /** It was the medium of the call at some time. */
  hasJoined: boolean;
  timer: NodeJS.Timeout | null;
  /** Called when the room is over. */
  readonly watchers: Set<() => void>;
}

export class RoomSockets {
  readonly #options: RoomSocketsOptions;
  readonly #rooms = new Map<string, RoomSocket>();

  constructor(options: RoomSocketsOptions) {
    this.#options = options;
  }

  /** Takes over a socket. One call has one; an earlier one is closed. */
  open({ callId, socket, query, roomUrl, token, joined }: OpenRoomInput): void {
    const earlier = this.#rooms.get(callId);
    if (earlier !== undefined) this.#end(callId, earlier, CODE_REPLACED);
    const line = new SocketLine(socket, {
      frame: (data) => this.#read(room, data),
      congested: () => undefined,
      closed: (code) => this.#closed(callId, room, code),
    });
    const room: RoomSocket = {
      line,
      query,
      joined,
      medium: null,
      hasJoined: false,
      timer: null,
      watchers: new Set(),
    };
    this.#rooms.set(callId, room);
    this.#endAfter(callId, room, this.#options.joinLimitMs ?? JOIN_LIMIT_MS);
    line.sendMessage(JSON.stringify({ type: "room_info", roomUrl, token }));
  }

  /** The query of the join URL; null: the client of the call has no socket here. */
  queryOf(callId: string): JoinQuery | null {
    return this.#rooms.get(callId)?.query ?? null;
  }

  /** The media of the room are connected. */
  joined(callId: string, medium: RoomMedium): void {
    const room = this.#rooms.get(callId);
    if (room === undefined) {
      // Its socket was closed meanwhile.
      setImmediate(() => medium.hangUp());
      return;
    }
    if (room.timer !== null) clearTimeout(room.timer);
    room.timer = null;
    room.medium = medium;
    room.hasJoined = true;
    room.joined();
  }

  /** The connection of the room is over. */
  left(callId: string, connectionId: string, { regular }: { readonly regular: boolean }): void {
    const room = this.#rooms.get(callId);
    if (room?.medium?.connectionId !== connectionId) return;
    room.medium = null;
    if (regular) this.#end(callId, room, CODE_REGULAR);
    else this.#endAfter(callId, room, RETURN_LIMIT_MS);
  }

  /** Another node has the call. */
  drop(callId: string): void {
    const room = this.#rooms.get(callId);
    if (room !== undefined) this.#end(callId, room, CODE_FAILED);
  }

  /** Calls back when the room is over; the result takes that back. Null: the call has no room here. */
  watch(callId: string, over: () => void): (() => void) | null {
    const watchers = this.#rooms.get(callId)?.watchers;
    if (watchers === undefined) return null;
    watchers.add(over);
    return () => watchers.delete(over);
  }

  #read({ medium }: RoomSocket, data: Buffer): void {
    // A client may send messages only after it has joined the room.
    if (medium === null) return;
    if (data.byteLength <= LONGEST_MESSAGE_BYTES) medium.listener.data(data.toString("utf8"), false);
    else medium.listener.data(data.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
  }

  /** The client leaves when its socket is closed, and a lost socket says nothing of the media. */
  #closed(callId: string, room: RoomSocket, code: number): void {
    if (this.#rooms.get(callId) !== room) return;
    if (isRegularClose(code)) this.#leave(callId, room);
    else if (room.medium === null) this.#end(callId, room, code);
  }

  #leave(callId: string, room: RoomSocket): void {
    const { medium, hasJoined } = room;
    this.#end(callId, room, CODE_REGULAR);
    if (medium !== null) medium.hangUp();
    // It has ended its media before.
    else if (hasJoined) this.#options.endCall(callId);
  }

  #endAfter(callId: string, room: RoomSocket, waitMs: number): void {
    const code = room.hasJoined ? CODE_FAILED : CODE_NO_MEDIA;
    room.timer = setTimeout(() => this.#end(callId, room, code), waitMs);
  }

  #end(callId: string, room: RoomSocket, code: number): void {
    if (room.timer !== null) clearTimeout(room.timer);
    if (this.#rooms.get(callId) === room) this.#rooms.delete(callId);
    room.line.close(code, REASONS.get(code) ?? "");
    for (const over of room.watchers) over();
    room.watchers.clear();
  }
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [CODE_REPLACED, "another connection of the call has replaced this one"],
  [CODE_NO_MEDIA, "the room was not joined in time"],
]);
