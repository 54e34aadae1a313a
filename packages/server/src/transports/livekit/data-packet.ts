/** Data messages as LiveKit clients send and take them: the payload of a user packet in a data packet. */

import { DataPacket, DataPacket_Kind, UserPacket } from "@livekit/protocol";
import { AGENT_IDENTITY } from "./participants.ts";
import { AGENT_SID } from "./room-sdp.ts";

export function writeDataPacket(text: string): Buffer {
  const sender = { participantIdentity: AGENT_IDENTITY, participantSid: AGENT_SID };
  const packet = new DataPacket({
    kind: DataPacket_Kind.RELIABLE,
    ...sender,
    value: { case: "user", value: new UserPacket({ ...sender, payload: Buffer.from(text, "utf8") }) },
  });
  return Buffer.from(packet.toBinary());
}

/** The payload of a user packet; null: another kind of packet. @throws for what is no data packet */
export function readDataPacket(bytes: Buffer): Buffer | null {
  const { value } = DataPacket.fromBinary(bytes);
  return value.case === "user" ? Buffer.from(value.value.payload) : null;
}
