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

export interface RoomDoorsOptions {
  /** Ends a call whose client has left while its connection was lost. */
  readonly endCall: (callId: string) => void;
  /** In tests only: `JOIN_LIMIT_MS`. */
  readonly joinLimitMs?: number;
}

interface Door {
  readonly line: SocketLine;
  readonly query: JoinQuery;
  medium: RoomMedium | null;
  /** It was the medium of the call at some time. */
  hasJoined: boolean;
  timer: NodeJS.Timeout | null;
  /** Called when the room is over. */
  readonly watchers: Set<() => void>;
}

export class RoomDoors {
  readonly #options: RoomDoorsOptions;
  readonly #doors = new Map<string, Door>();

  constructor(options: RoomDoorsOptions) {
    this.#options = options;
  }

  /** Takes over a socket. One call has one; an earlier one is closed. */
  open({ callId, socket, query, roomUrl, token }: OpenRoomInput): void {
    const earlier = this.#doors.get(callId);
    if (earlier !== undefined) this.#end(callId, earlier, CODE_REPLACED);
    const line = new SocketLine(socket, {
      frame: (data) => this.#read(door, data),
      congested: () => undefined,
      closed: (code) => this.#closed(callId, door, code),
    });
    const door: Door = { line, query, medium: null, hasJoined: false, timer: null, watchers: new Set() };
    this.#doors.set(callId, door);
    this.#endAfter(callId, door, this.#options.joinLimitMs ?? JOIN_LIMIT_MS);
    line.sendMessage(JSON.stringify({ type: "room_info", roomUrl, token }));
  }

  /** The query of the join URL; null: the client of the call has no socket here. */
  queryOf(callId: string): JoinQuery | null {
    return this.#doors.get(callId)?.query ?? null;
  }

  /** Media flow. */
  joined(callId: string, medium: RoomMedium): void {
    const door = this.#doors.get(callId);
    if (door === undefined) {
      // Its socket was closed in this very moment.
      setImmediate(() => medium.hangUp());
      return;
    }
    if (door.timer !== null) clearTimeout(door.timer);
    door.timer = null;
    door.medium = medium;
    door.hasJoined = true;
  }

  /** The connection of the room is over. */
  left(callId: string, connectionId: string, { regular }: { readonly regular: boolean }): void {
    const door = this.#doors.get(callId);
    if (door?.medium?.connectionId !== connectionId) return;
    door.medium = null;
    if (regular) this.#end(callId, door, CODE_REGULAR);
    else this.#endAfter(callId, door, RETURN_LIMIT_MS);
  }

  /** Another node has the call. */
  drop(callId: string): void {
    const door = this.#doors.get(callId);
    if (door !== undefined) this.#end(callId, door, CODE_FAILED);
  }

  /** Calls back when the room is over; the result takes that back. Null: the call has no room here. */
  watch(callId: string, over: () => void): (() => void) | null {
    const watchers = this.#doors.get(callId)?.watchers;
    if (watchers === undefined) return null;
    watchers.add(over);
    return () => watchers.delete(over);
  }

  #read({ medium }: Door, data: Buffer): void {
    // A client may send messages only after it has joined the room.
    if (medium === null) return;
    if (data.byteLength <= LONGEST_MESSAGE_BYTES) medium.listener.data(data.toString("utf8"), false);
    else medium.listener.data(data.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
  }

  /** The client leaves when its socket is closed, and a lost socket says nothing of the media. */
  #closed(callId: string, door: Door, code: number): void {
    if (this.#doors.get(callId) !== door) return;
    if (isRegularClose(code)) this.#leave(callId, door);
    else if (door.medium === null) this.#end(callId, door, code);
  }

  #leave(callId: string, door: Door): void {
    const { medium, hasJoined } = door;
    this.#end(callId, door, CODE_REGULAR);
    if (medium !== null) medium.hangUp();
    // It has ended its media before.
    else if (hasJoined) this.#options.endCall(callId);
  }

  #endAfter(callId: string, door: Door, waitMs: number): void {
    const code = door.hasJoined ? CODE_FAILED : CODE_NO_MEDIA;
    door.timer = setTimeout(() => this.#end(callId, door, code), waitMs);
  }

  #end(callId: string, door: Door, code: number): void {
    if (door.timer !== null) clearTimeout(door.timer);
    if (this.#doors.get(callId) === door) this.#doors.delete(callId);
    door.line.close(code, REASONS.get(code) ?? "");
    for (const over of door.watchers) over();
    door.watchers.clear();
  }
}

const REASONS: ReadonlyMap<number, string> = new Map([
  [CODE_REPLACED, "another connection of the call has replaced this one"],
  [CODE_NO_MEDIA, "the room was not joined in time"],
]);
