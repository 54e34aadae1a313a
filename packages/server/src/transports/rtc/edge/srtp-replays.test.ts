import { describe, expect, test } from "vitest";
import { refuseRtcpReplays, refuseRtpReplays } from "./srtp-replays.ts";

const SOURCE = 0x0102_0304;

function rtp(sequence: number, source = SOURCE): Buffer {
  const packet = Buffer.alloc(40, 1);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(source, 8);
  return packet;
}

function rtcp(index: number, profile: number): Buffer {
  const packet = Buffer.alloc(60, 1);
  packet.writeUInt32BE(SOURCE, 4);
  packet.writeUInt32BE((index | 0x8000_0000) >>> 0, packet.length - 4 - (profile === 1 ? 10 : 0));
  return packet;
}

/** A context that refuses packets whose last byte is 0. */
function context(profile = 1) {
  return {
    config: { profile },
    decrypt: (packet: Buffer): Buffer => {
      if (packet.at(-1) === 0) throw new Error("not signed");
      return packet;
    },
  };
}

describe("RTP", () => {
  test("is decrypted once, in any order", () => {
    const guarded = context();
    refuseRtpReplays(guarded);
    for (const sequence of [65_534, 65_535, 1, 0, 2]) {
      expect(guarded.decrypt(rtp(sequence))).toEqual(rtp(sequence));
      expect(() => guarded.decrypt(rtp(sequence))).toThrow("received before");
    }
  });

  test("that is not signed is not counted as received", () => {
    const guarded = context();
    refuseRtpReplays(guarded);
    const forged = rtp(5);
    forged.writeUInt8(0, forged.length - 1);
    expect(() => guarded.decrypt(forged)).toThrow("not signed");
    expect(guarded.decrypt(rtp(5))).toEqual(rtp(5));
  });

  test("may have 256 sources", () => {
    const guarded = context();
    refuseRtpReplays(guarded);
    for (let source = 0; source < 256; source += 1) guarded.decrypt(rtp(1, source));
    expect(() => guarded.decrypt(rtp(1, 256))).toThrow("too many sources");
    expect(guarded.decrypt(rtp(2, 255))).toEqual(rtp(2, 255));
  });
});

describe.each([
  ["HMAC", 1],
  ["AES-GCM", 7],
])("RTCP signed by %s", (_name, profile) => {
  test("is decrypted once", () => {
    const guarded = context(profile);
    refuseRtcpReplays(guarded);
    for (const index of [1, 2, 0x7fff_ffff]) {
      guarded.decrypt(rtcp(index, profile));
      expect(() => guarded.decrypt(rtcp(index, profile))).toThrow("received before");
    }
  });
});
