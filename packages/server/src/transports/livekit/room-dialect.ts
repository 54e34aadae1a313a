/** The conventions of LiveKit clients on a peer connection. */

import type { PeerDialect } from "../rtc/peer.ts";
import { readDataPacket, writeDataPacket } from "./data-packet.ts";
import { speakingLine } from "./room-sdp.ts";

export const ROOM_DIALECT: PeerDialect = {
  // The other channels of these clients carry what may be lost, and nothing of a call.
  channelLabel: "_reliable",
  allowsVideo: true,
  speakingLine,
  encode: writeDataPacket,
  decode: readDataPacket,
};
