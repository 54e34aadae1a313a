/** Joins by clients that expect a LiveKit room: the socket at the join URL, and the signalling of the room. */

import { CallLimit } from "../call-limits.ts";
import type { ConnectOutcome, LiveCalls } from "../../runner/live-calls.ts";
import type { OpenRoomInput, Rooms } from "../api.ts";
import type { RoomSockets } from "./room-sockets.ts";
import type { OpenSignalling, RoomSignallingParts } from "./room-signalling.ts";

/** Sockets of signalling of one call. A client opens one, and another for each network that it loses. */
export const SIGNALLING_PER_CALL = { count: 30, windowMs: 60_000 };

export interface RoomsParts extends Omit<RoomSignallingParts, "roomSockets"> {
  readonly roomSockets: RoomSockets;
  readonly liveCalls: Pick<LiveCalls, "awaitsJoin">;
}

export function openRooms(parts: RoomsParts): Rooms {
  const { roomSockets, liveCalls } = parts;
  /** One of each call: whoever knows a join URL must not take the connections of all others. */
  const open = new Map<string, OpenSignalling>();
  const limit = new CallLimit(SIGNALLING_PER_CALL);
  return {
    async open(input: OpenRoomInput): Promise<ConnectOutcome> {
      const state = await liveCalls.awaitsJoin(input.callId);
      if (state !== "joinable") return state;
      roomSockets.open(input);
      return "connected";
    },
    waitToSignal: (callId) => limit.take(callId, performance.now()),
    // Loaded by the first room alone: its messages are a large library.
    signal: async (input) => {
      const { openRoomSignalling } = await import("./room-signalling.ts");
      const { callId } = input;
      open.get(callId)?.replace();
      const signalling = openRoomSignalling(parts, input, () => {
        if (open.get(callId) === signalling) open.delete(callId);
      });
      open.set(callId, signalling);
    },
  };
}
