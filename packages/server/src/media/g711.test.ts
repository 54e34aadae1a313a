import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ALAW_SILENCE, decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw, MULAW_SILENCE } from "./g711.ts";

/** ITU-T G.711, table 2a: character signals and the values at the decoder output, here times 4. */
const TABLE: readonly (readonly [number, number])[] = [
  [0b1000_0000, 8_031],
  [0b1000_1111, 4_191],
  [0b1001_1111, 2_079],
  [0b1010_1111, 1_023],
  [0b1011_1111, 495],
  [0b1100_1111, 231],
  [0b1101_1111, 99],
  [0b1110_1111, 33],
  [0b1111_1110, 2],
  [0b1111_1111, 0],
];

describe("mu-law", () => {
  it("decodes the values of the table, and the negative ones", () => {
    for (const [code, value] of TABLE) {
      expect(decodeMulaw(Uint8Array.of(code))[0]).toBe(value * 4);
      expect(decodeMulaw(Uint8Array.of(code & 0x7f))[0]).toBe(value === 0 ? 0 : -value * 4);
    }
  });

  it("encodes what it decodes to the same code", () => {
    const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
    const again = encodeMulaw(decodeMulaw(codes));
    // Two codes are silence.
    expect([...again]).toEqual([...codes].map((code) => (code === 0x7f ? MULAW_SILENCE : code)));
  });

  it("chooses the value in whose interval a sample lies", () => {
    fc.assert(
      fc.property(fc.integer({ min: -32_635, max: 32_635 }), (sample) => {
        const code = encodeMulaw(Int16Array.of(sample))[0] ?? NaN;
        const chosen = decodeMulaw(Uint8Array.of(code))[0] ?? NaN;
        const segment = (~code >> 4) & 7;
        // The intervals of a segment are 2^(segment + 1) wide in the tables.
        expect(Math.abs(chosen - sample)).toBeLessThanOrEqual(4 << segment);
      }),
    );
  });

  it("keeps the order of loudness and cuts what is too loud", () => {
    const samples = Int16Array.from({ length: 1_001 }, (_, index) => Math.round(index * 32.767));
    const decoded = [...decodeMulaw(encodeMulaw(samples))];
    expect(decoded).toEqual([...decoded].sort((a, b) => a - b));
    expect(encodeMulaw(Int16Array.of(32_767, -32_768))).toEqual(Uint8Array.of(0x80, 0x00));
  });
});

/** ITU-T G.711, table 1a: character signals before the inversion of even bits, and values at the output, times 8. */
const ALAW_TABLE: readonly (readonly [number, number])[] = [
  [0b1111_1111, 4_032],
  [0b1111_0000, 2_112],
  [0b1110_0000, 1_056],
  [0b1101_0000, 528],
  [0b1100_0000, 264],
  [0b1011_0000, 132],
  [0b1010_0000, 66],
  [0b1001_0000, 33],
  [0b1000_0000, 1],
];

describe("A-law", () => {
  it("decodes the values of the table, and the negative ones", () => {
    for (const [signal, value] of ALAW_TABLE) {
      expect(decodeAlaw(Uint8Array.of(signal ^ 0x55))[0]).toBe(value * 8);
      expect(decodeAlaw(Uint8Array.of((signal & 0x7f) ^ 0x55))[0]).toBe(-value * 8);
    }
  });

  it("encodes what it decodes to the same code, and silence as silence", () => {
    const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
    expect(encodeAlaw(decodeAlaw(codes))).toEqual(codes);
    expect(encodeAlaw(Int16Array.of(0))).toEqual(Uint8Array.of(ALAW_SILENCE));
  });

  it("chooses the value in whose interval a sample lies, over the whole range", () => {
    const wrong: number[] = [];
    for (let sample = -32_768; sample <= 32_767; sample += 1) {
      const code = encodeAlaw(Int16Array.of(sample))[0] ?? NaN;
      const chosen = decodeAlaw(Uint8Array.of(code))[0] ?? NaN;
      const segment = ((code ^ 0x55) >> 4) & 7;
      // The intervals of segments 0 and 1 are 2 wide in the tables, and each further one twice as wide.
      const half = 8 << Math.max(0, segment - 1);
      if (Math.abs(chosen - sample) > half) wrong.push(sample);
    }
    expect(wrong).toEqual([]);
  });
});
