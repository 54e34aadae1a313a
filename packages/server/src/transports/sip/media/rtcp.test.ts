import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Reception, roundTripMs } from "./reception.ts";
import { middleOfNtp, reportsOf, rtcpPacketOf } from "./rtcp.ts";
import { payloadOf, rtpHeaderOf, rtpPacketOf } from "./rtp-packet.ts";

const BLOCK = {
  ssrc: 7,
  fractionLost: 12,
  packetsLost: -3,
  highestSequence: 70_000,
  jitter: 55,
  lastReport: 0x1234_5678,
  sinceLastReport: 65_536,
};
const WALL_MS = 1_800_000_000_123;
const SENDER = { wallMs: WALL_MS, timestamp: 4_000_000_000, packets: 5, bytes: 800 };

describe("reports", () => {
  it("are read as they were written, with and without their parts", () => {
    for (const sender of [null, SENDER]) {
      for (const block of [null, BLOCK]) {
        for (const isLast of [false, true]) {
          const packet = rtcpPacketOf({ ssrc: 9, cname: "a name", sender, block, isLast });
          expect(packet.length % 4).toBe(0);
          expect(reportsOf(packet)).toEqual([
            {
              ssrc: 9,
              sentAt: sender === null ? null : middleOfNtp(WALL_MS),
              blocks: block === null ? [] : [block],
            },
          ]);
        }
      }
    }
  });

  it("are none where a length, a version or the first kind is wrong", () => {
    const good = rtcpPacketOf({ ssrc: 9, cname: "n", sender: SENDER, block: BLOCK, isLast: true });
    for (let length = 0; length < good.length; length += 1) {
      const cut = reportsOf(good.subarray(0, length));
      expect(cut === null || (length % 4 === 0 && cut.length === 1)).toBe(true);
    }
    expect(reportsOf(Buffer.from("80cb000100000001", "hex"))).toBeNull();
    expect(reportsOf(Buffer.from("40c9000100000001", "hex"))).toBeNull();
    expect(reportsOf(Buffer.from("9fc9000100000001", "hex"))).toBeNull();
    expect(reportsOf(Buffer.from("80c9000100000001".repeat(17), "hex"))).toBeNull();
  });

  it("never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const packet = Buffer.from(bytes);
        expect(reportsOf(packet)?.length).not.toBe(0);
        const header = rtpHeaderOf(packet);
        const payload = header === null ? null : payloadOf(packet, header);
        expect(payload?.length ?? 0).toBeLessThanOrEqual(Math.max(0, packet.length - 12));
      }),
    );
  });

  it("give the round trip: the time since ours, less the time that the other side has kept it", () => {
    const block = { ...BLOCK, lastReport: middleOfNtp(WALL_MS), sinceLastReport: 65_536 };
    expect(roundTripMs(block, middleOfNtp(WALL_MS + 1_080))).toBeCloseTo(80, 0);
    expect(roundTripMs(block, middleOfNtp(WALL_MS + 900))).toBeNull();
    expect(roundTripMs({ ...block, lastReport: 0 }, 5)).toBeNull();
  });
});

describe("what is received", () => {
  const packet = (sequence: number, ssrc = 1) => ({ sequence: sequence & 0xffff, ssrc });

  it("is counted over a turn of the numbers, with late packets and without lost ones", () => {
    const reception = new Reception();
    for (const n of [65_533, 65_535, 65_534, 65_536, 65_538])
      reception.packet(packet(n), n * 160, 8_000, n * 20);
    expect([reception.packetsReceived, reception.packetsLost]).toEqual([5, 1]);
    const block = reception.block(0);
    expect([block?.highestSequence, block?.packetsLost]).toEqual([65_538, 1]);
    expect(block?.fractionLost).toBe(Math.floor(256 / 6));
    for (const n of [65_539, 65_540]) reception.packet(packet(n), null, 8_000, 0);
    expect(reception.block(0)?.fractionLost).toBe(0);
  });

  it("begins anew with another source, and keeps the sum", () => {
    const reception = new Reception();
    for (const n of [1, 2, 5]) reception.packet(packet(n), null, 8_000, 0);
    for (const n of [900, 901]) reception.packet(packet(n, 2), null, 8_000, 0);
    expect([reception.packetsReceived, reception.packetsLost]).toEqual([5, 2]);
    expect(reception.block(0)?.packetsLost).toBe(0);
  });

  it("has the jitter of RFC 3550, in which a wrap of the timestamps is none", () => {
    const reception = new Reception();
    let timestamp = 2 ** 32 - 160 * 50;
    for (let n = 0; n < 100; n += 1) {
      reception.packet(packet(n), timestamp % 2 ** 32, 8_000, n * 20 + (n % 2) * 10);
      timestamp += 160;
    }
    expect(reception.jitterMs).toBeGreaterThan(9);
    expect(reception.jitterMs).toBeLessThan(10.1);
  });
});

describe("RTP packets", () => {
  const rtp = { marker: true, payloadType: 101, sequence: 65_535, timestamp: 2 ** 32 - 1, ssrc: 2 ** 32 - 1 };

  it("are read as they were written", () => {
    const packet = rtpPacketOf({ ...rtp, payload: Uint8Array.of(1, 2, 3) });
    const header = rtpHeaderOf(packet);
    expect(header).toEqual({ ...rtp, payloadStart: 12, hasPadding: false });
    expect(header === null ? null : [...(payloadOf(packet, header) ?? [])]).toEqual([1, 2, 3]);
  });

  it("have sources, an extension and padding around the payload, which lie within them", () => {
    const head = Buffer.from("b2000001000000020000000300000004000000050000000100010000", "hex");
    const packet = Buffer.concat([
      head.subarray(0, 20),
      Buffer.from("be de 00 01 11 22 33 44".replaceAll(" ", ""), "hex"),
    ]);
    const whole = Buffer.concat([packet, Buffer.from("aabb0002", "hex")]);
    const header = rtpHeaderOf(whole);
    expect(header?.payloadStart).toBe(28);
    expect(header === null ? null : payloadOf(whole, header)?.toString("hex")).toBe("aabb");
    whole.writeUInt8(5, whole.length - 1);
    expect(header === null ? null : payloadOf(whole, header)).toBeNull();
    whole.writeUInt8(0, whole.length - 1);
    expect(header === null ? null : payloadOf(whole, header)).toBeNull();
    whole.writeUInt16BE(0xffff, 22);
    expect(rtpHeaderOf(whole)).toBeNull();
  });
});
