import { RtpHeader as WeriftHeader, SrtcpSession, SrtpSession } from "werift";
import { describe, expect, it } from "vitest";
import { rtcpPacketOf } from "./rtcp.ts";
import { RTP_HEADER_BYTES, rtpHeaderOf, rtpPacketOf } from "./rtp-packet.ts";
import { derivedKey, SrtpReceiver, SrtpSender, TAG_BYTES } from "./srtp.ts";

const hex = (text: string): Buffer => Buffer.from(text, "hex");
const MASTER = { key: hex("e1f97a0d3e018be0d64fa32c06de4139"), salt: hex("0ec675ad498afeebb6960b3aabe6") };
const OTHER = { key: Buffer.alloc(16, 1), salt: Buffer.alloc(14, 2) };
/** The number by which the library names AES_CM_128_HMAC_SHA1_80. */
const PROFILE = 1;
const SSRC = 0xcafe_babe;

const libraryKeys = {
  localMasterKey: MASTER.key,
  localMasterSalt: MASTER.salt,
  remoteMasterKey: MASTER.key,
  remoteMasterSalt: MASTER.salt,
};

function rtp(index: number, payload: Buffer, sender: SrtpSender): Buffer {
  const packet = rtpPacketOf(
    { marker: false, payloadType: 0, sequence: index & 0xffff, timestamp: 160 * index, ssrc: SSRC, payload },
    TAG_BYTES,
  );
  return sender.rtp(packet, { payloadStart: RTP_HEADER_BYTES, ssrc: SSRC }, index);
}

function taken(receiver: SrtpReceiver, packet: Buffer): Buffer | null {
  const copy = Buffer.from(packet);
  const header = rtpHeaderOf(copy);
  return header === null ? null : receiver.rtp(copy, header);
}

const report = rtcpPacketOf({ ssrc: SSRC, cname: "abc", sender: null, block: null, isLast: false });

describe("SRTP", () => {
  it("derives the keys of RFC 3711, appendix B.3", () => {
    expect(derivedKey(MASTER, 0, 16).toString("hex")).toBe("c61e7a93744f39ee10734afe3ff7a087");
    expect(derivedKey(MASTER, 2, 14).toString("hex")).toBe("30cbbc08863d8c85d49db34a9ae1");
    expect(derivedKey(MASTER, 1, 20).toString("hex")).toBe("cebe321f6ff7716b6fd4ab49af256a156d38baa4");
  });

  it("understands an independent implementation, and is understood by it", () => {
    const library = new SrtpSession({ keys: libraryKeys, profile: PROFILE });
    const payload = Buffer.from("twenty milliseconds of speech");
    for (const index of [65_534, 65_535, 65_536, 65_537]) {
      const plain = library.decrypt(rtp(index, payload, new SrtpSender(MASTER)));
      expect(plain.subarray(RTP_HEADER_BYTES)).toEqual(payload);
    }
    const receiver = new SrtpReceiver(MASTER);
    const sealing = new SrtpSession({ keys: libraryKeys, profile: PROFILE });
    for (const sequenceNumber of [65_534, 65_535, 0, 1]) {
      const header = new WeriftHeader({ sequenceNumber, timestamp: 1, payloadType: 0, ssrc: SSRC });
      const plain = taken(receiver, sealing.encrypt(payload, header));
      expect(plain?.subarray(RTP_HEADER_BYTES)).toEqual(payload);
    }
    const rtcp = new SrtcpSession({ keys: libraryKeys, profile: PROFILE });
    expect(rtcp.decrypt(new SrtpSender(MASTER).rtcp(report))).toEqual(report);
    expect(new SrtpReceiver(MASTER).rtcp(rtcp.encrypt(report))).toEqual(report);
  });

  it("takes each packet once, in any order, over a turn of the numbers", () => {
    const [sender, receiver] = [new SrtpSender(MASTER), new SrtpReceiver(MASTER)];
    const packets = [65_533, 65_535, 65_534, 65_537, 65_536].map((index) =>
      rtp(index, Buffer.from(`speech ${String(index)}`), sender),
    );
    for (const packet of packets) expect(taken(receiver, packet)).not.toBeNull();
    for (const packet of packets) expect(taken(receiver, packet)).toBeNull();
    const sealed = sender.rtcp(report);
    expect([receiver.rtcp(sealed), receiver.rtcp(sealed)]).toEqual([report, null]);
  });

  it("takes nothing that was changed, is of another key or too short", () => {
    const packet = rtp(7, Buffer.alloc(160, 9), new SrtpSender(MASTER));
    for (let at = 0; at < packet.length; at += 1) {
      const changed = Buffer.from(packet);
      changed.writeUInt8(changed.readUInt8(at) ^ 0x20, at);
      expect(taken(new SrtpReceiver(MASTER), changed)).toBeNull();
    }
    expect(taken(new SrtpReceiver(OTHER), packet)).toBeNull();
    const sealed = new SrtpSender(MASTER).rtcp(report);
    for (let length = 0; length < packet.length; length += 1) {
      expect(taken(new SrtpReceiver(MASTER), packet.subarray(0, length))).toBeNull();
      expect(
        new SrtpReceiver(MASTER).rtcp(sealed.subarray(0, Math.min(length, sealed.length - 1))),
      ).toBeNull();
    }
  });

  it("remembers sources with a valid signature only, and not more than thirty-two", () => {
    const receiver = new SrtpReceiver(MASTER);
    const of = (ssrc: number, master: typeof MASTER): Buffer | null => {
      const packet = rtpPacketOf(
        { marker: false, payloadType: 0, sequence: 1, timestamp: 1, ssrc, payload: Buffer.alloc(8) },
        TAG_BYTES,
      );
      return taken(receiver, new SrtpSender(master).rtp(packet, { payloadStart: RTP_HEADER_BYTES, ssrc }, 1));
    };
    for (let ssrc = 0; ssrc < 1_000; ssrc += 1) expect(of(ssrc, OTHER)).toBeNull();
    for (let ssrc = 0; ssrc < 40; ssrc += 1) expect(of(ssrc, MASTER) !== null).toBe(ssrc < 32);
  });
});
