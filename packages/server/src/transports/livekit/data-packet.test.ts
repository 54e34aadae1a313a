import { DataPacket, SipDTMF, UserPacket } from "@livekit/protocol";
import { describe, expect, test } from "vitest";
import { readDataPacket, writeDataPacket } from "./data-packet.ts";

const sent = (value: DataPacket["value"]): Buffer => Buffer.from(new DataPacket({ value }).toBinary());

describe("a data packet", () => {
  test("holds a message that clients read as one of the agent", () => {
    const packet = DataPacket.fromBinary(writeDataPacket('{"type":"pong"}'));
    expect(packet).toMatchObject({ participantIdentity: "agent", participantSid: "PA_agent" });
    expect(packet.value.case).toBe("user");
    expect(String(readDataPacket(Buffer.from(packet.toBinary())))).toBe('{"type":"pong"}');
  });

  test("of another kind is no message", () => {
    expect(readDataPacket(sent({ case: "sipDtmf", value: new SipDTMF({ digit: "1" }) }))).toBeNull();
    expect(readDataPacket(Buffer.alloc(0))).toBeNull();
  });

  test("that is damaged cannot be read", () => {
    const whole = sent({ case: "user", value: new UserPacket({ payload: Buffer.from("hello") }) });
    expect(() => readDataPacket(whole.subarray(0, -1))).toThrow(RangeError);
    // Groups that begin within each other, which a reader descends into.
    expect(() => readDataPacket(Buffer.alloc(256 * 1_024, 0x7b))).toThrow(RangeError);
  });

  test("with too many bytes or fields is refused before it is decoded", () => {
    const packet = (size: number): Buffer =>
      sent({ case: "user", value: new UserPacket({ payload: Buffer.alloc(size), topic: "t" }) });
    expect(readDataPacket(packet(256 * 1_024))).toHaveLength(256 * 1_024);
    expect(() => readDataPacket(packet(260 * 1_024))).toThrow("too long");
    const fields = Buffer.alloc(66, Uint8Array.of(0x78, 0x01));
    expect(() => readDataPacket(fields)).toThrow("more than 32 fields");
    const user = Buffer.concat([Uint8Array.of(0x12, fields.length), fields]);
    expect(() => readDataPacket(user)).toThrow("more than 32 fields");
  });
});
