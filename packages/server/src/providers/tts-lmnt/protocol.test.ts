import { describe, expect, it } from "vitest";
import { lmntProtocol } from "./protocol.ts";

const read = (value: unknown) =>
  lmntProtocol("{}", { key: "secret-key", sampleRateHz: 8_000 }).read(JSON.stringify(value));

describe("what LMNT answers", () => {
  it("leaves out times of another shape, and keeps the socket", () => {
    for (const timestamps of ["none", null, [{ word: "We" }], { text: ["We"] }])
      expect(read({ type: "timestamps", timestamps })).toEqual({
        to: null,
        message: { type: "timestamps", timestamps: [], beforeMs: 0 },
      });
  });

  it("ignores messages of types that it does not know", () => {
    expect(read({ type: "usage", characters: 12 })).toBeNull();
    expect(() => read({ type: "flush_complete", nonce: "x" })).toThrow("unknown form");
  });
});
