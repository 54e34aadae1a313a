/** What the fuzzer of the media side calls a fault, and how it changes packets. */

import { describe, expect, test } from "vitest";
import { dtlsFields, rtcpFields, rtpFields, sctpFields, stunFields } from "../fuzz/media/fields.ts";
import { MAX_INPUT_BYTES, mutated } from "../fuzz/media/mutate.ts";
import { mutatedSdp } from "../fuzz/media/mutate-sdp.ts";
import { recordedOffers } from "../fuzz/media/attack-offers.ts";
import { type CallFrames, MAX_HEAP_GROWTH_BYTES, MAX_LAG_FRAMES, Oracle } from "../fuzz/media/oracle.ts";
import { Draw } from "../sim/draw.ts";
import {
  dtlsRecord,
  sctpChunk,
  sctpPacket,
  stunRequest,
} from "../src/transports/rtc/edge/testing/packets.ts";

const FRAMES: CallFrames = {
  callId: "witness-1",
  sentByCaller: 1_000,
  heardByService: 1_000,
  sentByService: 1_000,
  receivedByCaller: 1_000,
};
const MEMORY = { heapBytes: 1, externalBytes: 1, residentBytes: 1, descriptors: 20 };

describe("the oracle", () => {
  test("accepts frames that are on their way, and finds those that do not arrive, each way", () => {
    const oracle = new Oracle();
    oracle.judgeFrames({
      ...FRAMES,
      sentByCaller: 1_000 + MAX_LAG_FRAMES,
      receivedByCaller: 1_000 - MAX_LAG_FRAMES,
    });
    expect(oracle.faults).toEqual([]);
    oracle.judgeFrames({ ...FRAMES, heardByService: 1_000 - MAX_LAG_FRAMES - 1 });
    oracle.judgeFrames({ ...FRAMES, receivedByCaller: 1_000 - MAX_LAG_FRAMES - 1 });
    expect(oracle.faults).toEqual([
      "the service has not heard the last frames of witness-1: 101, and 100 may be",
      "witness-1 has not received the last frames: 101, and 100 may be",
    ]);
    expect(oracle.takeLongestLag()).toBe(MAX_LAG_FRAMES + 1);
    expect(oracle.takeLongestLag()).toBe(0);
  });

  test("finds memory and sockets that are not given back", () => {
    const oracle = new Oracle();
    oracle.judgeMemory(MEMORY, { ...MEMORY, heapBytes: MAX_HEAP_GROWTH_BYTES });
    expect(oracle.faults).toEqual([]);
    oracle.judgeMemory(MEMORY, {
      heapBytes: 1_000_000_000,
      externalBytes: 1_000_000_000,
      residentBytes: 1e9,
      descriptors: 29,
    });
    expect(oracle.faults).toEqual([
      "the heap of the thread grew by 954 MiB, and 64 may be",
      "the buffers of the thread grew by 954 MiB, and 32 may be",
      "the memory of the process grew by 954 MiB, and 64 may be",
      "9 sockets were left open, and 8 may be",
    ]);
  });

  test("counts all faults, keeps the first ones, and tells that there is one", async () => {
    const oracle = new Oracle();
    for (let fault = 0; fault < 50; fault += 1) oracle.fault(`fault ${String(fault)}`);
    await oracle.failed;
    expect(oracle.faultCount).toBe(50);
    expect(oracle.faults).toHaveLength(20);
  });
});

const rtp = Buffer.concat([Buffer.from([0x91, 111]), Buffer.alloc(30)]);
const PACKETS = [
  [stunFields, stunRequest()],
  [dtlsFields, dtlsRecord({})],
  [rtpFields, rtp],
  [rtcpFields, Buffer.from("80c9000101020304", "hex")],
  [sctpFields, sctpPacket(7, sctpChunk(0, Buffer.alloc(20)), sctpChunk(3, Buffer.alloc(12)))],
] as const;

describe("inputs", () => {
  test.each(PACKETS)(
    "the fields of a packet are inside of it, also when it is cut off or wrong (%o)",
    (fieldsOf, packet) => {
      const draw = new Draw(1);
      expect(fieldsOf(packet).length).toBeGreaterThan(3);
      for (let run = 0; run < 300; run += 1) {
        const input = mutated(draw, packet, fieldsOf, [packet]);
        expect(input.length).toBeLessThanOrEqual(MAX_INPUT_BYTES);
        const outside = fieldsOf(input).filter(({ at, bytes }) => at < 0 || at + bytes > input.length);
        expect(outside).toEqual([]);
      }
    },
  );

  test("the same seed makes the same inputs, another one makes others", () => {
    const [offer = ""] = recordedOffers();
    const inputs = (seed: number): unknown[] => {
      const draw = new Draw(seed);
      return Array.from({ length: 50 }, () => [
        mutated(draw, rtp, rtpFields, [rtp]).toString("hex"),
        mutatedSdp(draw, offer, [offer]),
      ]);
    };
    expect(inputs(1)).toEqual(inputs(1));
    expect(inputs(2)).not.toEqual(inputs(1));
  });

  test("changed offers are no longer than the HTTP API takes", () => {
    const draw = new Draw(1);
    const offers = recordedOffers();
    expect(offers.length).toBeGreaterThan(0);
    for (let run = 0; run < 300; run += 1) {
      expect(mutatedSdp(draw, offers[run % offers.length] ?? "", offers).length).toBeLessThanOrEqual(65_536);
    }
  });
});
