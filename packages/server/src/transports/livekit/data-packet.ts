/** Data messages as LiveKit clients send and take them: the payload of a user packet in a data packet. */

import { DataPacket, DataPacket_Kind, UserPacket } from "@livekit/protocol";
import { KNOWN_FIELDS, reduced } from "./bounded-message.ts";
import { AGENT_IDENTITY } from "./participants.ts";
import { AGENT_SID } from "./room-sdp.ts";

/** A message of 256 KiB, the longest that is taken, and what is around it. */
const MAX_PACKET_BYTES = (256 + 4) * 1_024;
/** The payload of a user packet. */
const USED_FIELDS = { 2: { 2: null } };

export function writeDataPacket(text: string): Buffer {
  const sender = { participantIdentity: AGENT_IDENTITY, participantSid: AGENT_SID };
  const packet = new DataPacket({
    kind: DataPacket_Kind.RELIABLE,
    ...sender,
    value: { case: "user", value: new UserPacket({ ...sender, payload: Buffer.from(text, "utf8") }) },
  });
  return Buffer.from(packet.toBinary());
}

/** The payload of a user packet; null: another kind of packet. @throws RangeError */
export function readDataPacket(bytes: Buffer): Buffer | null {
  if (bytes.byteLength > MAX_PACKET_BYTES) throw new RangeError("a data packet that is too long");
  const { value } = DataPacket.fromBinary(reduced(bytes, USED_FIELDS), KNOWN_FIELDS);
  return value.case === "user" ? Buffer.from(value.value.payload) : null;
}
