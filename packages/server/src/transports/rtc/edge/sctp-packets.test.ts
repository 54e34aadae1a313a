import { assert, property, uint8Array } from "fast-check";
import { describe, expect, test } from "vitest";
import { type Association, problemOfPacket } from "./sctp-packets.ts";
import { numbers, sctpChunk, sctpPacket } from "./testing/packets.ts";

const TAG = 77;
const ESTABLISHED: Association = {
  localVerificationTag: TAG,
  isEstablished: true,
  lastReceivedTsn: 1_000,
  lastConfirmedTsn: 500,
  lastSentTsn: 520,
};
const NEW: Association = { ...ESTABLISHED, isEstablished: false, lastReceivedTsn: undefined };

const data = (tsn: number, stream = 0): Buffer =>
  sctpChunk(0, Buffer.concat([numbers([4, tsn], [2, stream], [2, 0], [4, 51]), Buffer.from("hello")]));
const init = (rest: Buffer = Buffer.alloc(0)): Buffer =>
  sctpChunk(1, Buffer.concat([numbers([4, 9], [4, 131_072], [2, 1_024], [2, 1_024], [4, 1_001]), rest]));
const sack = (confirmed: number, gaps: readonly (readonly [number, number])[], count = gaps.length): Buffer =>
  sctpChunk(
    3,
    numbers(
      [4, confirmed],
      [4, 131_072],
      [2, count],
      [2, 0],
      ...gaps.flatMap(([from, to]) => [[2, from] as const, [2, to] as const]),
    ),
  );
const judge = (chunks: readonly Buffer[], association = ESTABLISHED, tag = TAG): string | null =>
  problemOfPacket(sctpPacket(tag, ...chunks), association);

describe("a packet of a well-behaved client", () => {
  test.each([
    ["INIT with parameters", [init(sctpChunk(0x80, Buffer.from([8, 130, 192, 0])))], NEW, 0],
    ["COOKIE ECHO with data", [sctpChunk(10, Buffer.alloc(24)), data(1_001)], ESTABLISHED, TAG],
    ["data that come early", [data(1_001 + 1_000)], ESTABLISHED, TAG],
    ["data that come again", [data(3)], ESTABLISHED, TAG],
    ["data past the highest number", [data(4)], { ...ESTABLISHED, lastReceivedTsn: 2 ** 32 - 2 }, TAG],
    ["SACK of all", [sack(520, [])], ESTABLISHED, TAG],
    ["SACK with gaps", [sack(505, [[2, 3], [5, 15]])], ESTABLISHED, TAG], // prettier-ignore
    ["SACK that is overtaken", [sack(499, [[2, 60_000]])], ESTABLISHED, TAG],
    ["HEARTBEAT", [sctpChunk(4, numbers([2, 1], [2, 8], [4, 5]))], ESTABLISHED, TAG],
    ["ABORT", [sctpChunk(6, Buffer.alloc(0))], ESTABLISHED, TAG],
    ["SHUTDOWN", [sctpChunk(7, numbers([4, 520]))], ESTABLISHED, TAG],
    ["a reset of a stream", [sctpChunk(130, numbers([2, 13], [2, 18], [4, 1], [4, 2], [4, 3], [2, 0], [2, 0]))], ESTABLISHED, TAG], // prettier-ignore
    ["FORWARD TSN", [sctpChunk(192, numbers([4, 1_005], [2, 0], [2, 3]))], ESTABLISHED, TAG],
  ])("%s is accepted", (_what, chunks, association, tag) => {
    expect(judge(chunks, association, tag)).toBeNull();
  });
});

describe("a packet with", () => {
  test.each([
    ["no chunk", [], ESTABLISHED, TAG, "a packet without chunks"],
    ["another verification tag", [data(1_001)], ESTABLISHED, TAG + 1, "a wrong verification tag"],
    ["the tag of an INIT on something else", [data(1_001)], ESTABLISHED, 0, "a wrong verification tag"],
    [
      "a chunk of length 0",
      [sctpChunk(0, Buffer.alloc(0), 0)],
      ESTABLISHED,
      TAG,
      "a chunk of an impossible length",
    ],
    [
      "a chunk that exceeds it",
      [sctpChunk(4, Buffer.alloc(4), 12)],
      ESTABLISHED,
      TAG,
      "a chunk of an impossible length",
    ],
    [
      "a hundred chunks",
      Array.from({ length: 100 }, () => sctpChunk(11, Buffer.alloc(0))),
      ESTABLISHED,
      TAG,
      "too many chunks in a packet",
    ],
    ["an unknown chunk", [sctpChunk(200, Buffer.alloc(4))], ESTABLISHED, TAG, "a chunk of an unknown type"],
    ["an INIT and more", [init(), data(1_001)], NEW, 0, "an INIT that is not alone"],
    ["an INIT after something", [data(1_001), init()], ESTABLISHED, TAG, "an INIT that is not alone"],
    ["an INIT once it is established", [init()], ESTABLISHED, 0, "an INIT in an established association"],
    ["a short INIT", [sctpChunk(1, Buffer.alloc(15))], NEW, 0, "an INIT that is too short"],
    [
      "a parameter of length 0",
      [init(numbers([2, 7], [2, 0]))],
      NEW,
      0,
      "a parameter of an impossible length",
    ],
    [
      "a parameter that exceeds its chunk",
      [init(numbers([2, 7], [2, 12]))],
      NEW,
      0,
      "a parameter of an impossible length",
    ],
    // The library reads the parameters of each of these, and would never come to the end of one without a length.
    ...[4, 5, 6, 9, 130].map(
      (type) =>
        [
          `a parameter of length 0 in a chunk of type ${String(type)}`,
          [sctpChunk(type, numbers([2, 7], [2, 0], [4, 0]))],
          ESTABLISHED,
          TAG,
          "a parameter of an impossible length",
        ] as const,
    ),
    ["data before an INIT", [data(1)], NEW, TAG, "data before an INIT"],
    ["data far ahead", [data(1_000 + 1_025)], ESTABLISHED, TAG, "data too far from what was received"],
    ["data of stream 1,024", [data(1_001, 1_024)], ESTABLISHED, TAG, "data of a stream that does not exist"],
    ["empty data", [sctpChunk(0, Buffer.alloc(12))], ESTABLISHED, TAG, "a DATA chunk without data"],
    ["a SACK of what was not sent", [sack(521, [])], ESTABLISHED, TAG, "a SACK of data that were not sent"],
    ["a gap of what was not sent", [sack(505, [[2, 16]])], ESTABLISHED, TAG, "a SACK with impossible gaps"],
    [
      "gaps out of order",
      [
        sack(505, [
          [5, 6],
          [2, 3],
        ]),
      ],
      ESTABLISHED,
      TAG,
      "a SACK with impossible gaps",
    ],
    [
      "a gap that ends before it begins",
      [sack(505, [[6, 5]])],
      ESTABLISHED,
      TAG,
      "a SACK with impossible gaps",
    ],
    ["a gap at the confirmed data", [sack(505, [[0, 1]])], ESTABLISHED, TAG, "a SACK with impossible gaps"],
    [
      "250 gaps",
      [
        sack(
          505,
          Array.from({ length: 250 }, () => [1, 65_535] as const),
        ),
      ],
      ESTABLISHED,
      TAG,
      "a SACK with too many entries",
    ],
    ["gaps that it does not have", [sack(505, [], 5)], ESTABLISHED, TAG, "a SACK of a wrong length"],
    [
      "a FORWARD TSN far ahead",
      [sctpChunk(192, numbers([4, 3_000]))],
      ESTABLISHED,
      TAG,
      "a FORWARD TSN too far ahead",
    ],
    [
      "a reset that is too short",
      [sctpChunk(130, numbers([2, 13], [2, 8], [4, 1]))],
      ESTABLISHED,
      TAG,
      "a parameter that is too short",
    ],
    [
      "an answer to an INIT that we never send",
      [sctpChunk(2, Buffer.alloc(16))],
      ESTABLISHED,
      TAG,
      "an INIT ACK without an INIT",
    ],
  ] as const)("%s is refused", (_what, chunks, association, tag, problem) => {
    expect(judge([...chunks], association, tag)).toBe(problem);
  });

  test("random chunks is judged without an error, and at once", () => {
    assert(
      property(uint8Array({ minLength: 4, maxLength: 1_200 }), (bytes) => {
        problemOfPacket(sctpPacket(TAG, Buffer.from(bytes)), ESTABLISHED);
        problemOfPacket(sctpPacket(0, Buffer.from([1, ...bytes])), NEW);
      }),
    );
  });
});
