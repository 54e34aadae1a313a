import { expect, it } from "vitest";
import { mustSound, spokenText } from "./spoken-text.ts";

const LIMITS = { vendor: "Vendor", maxChars: 20 };

it.each([
  ["Good evening.", "Good evening."],
  ["\u0000one\u0007two\uD800", " one two\uFFFD"],
  ["€", "€"],
  ["", null],
  [" \n\t ", null],
  ["...", null],
  ["—", null],
])("gives a vendor for %j the text %j", (text, expected) => {
  expect(spokenText(text, LIMITS)).toBe(expected);
  expect(expected?.length ?? text.length).toBe(text.length);
});

it("leaves control characters to a server that wants the text as it is", () => {
  expect(spokenText("a\n\u0007b\uD800", { ...LIMITS, keepsControls: true })).toBe("a\n\u0007b\uFFFD");
});

it("refuses a text that is too long in characters or in bytes", () => {
  expect(spokenText("a".repeat(20), LIMITS)).toHaveLength(20);
  expect(() => spokenText("a".repeat(21), LIMITS)).toThrow(
    expect.objectContaining({
      name: "EngineFailure",
      type: "too_long",
      isPermanent: false,
      message: "Vendor takes at most 20 characters at a time",
    }),
  );
  expect(spokenText("ü".repeat(9), { ...LIMITS, maxBytes: 18 })).toHaveLength(9);
  expect(() => spokenText("ü".repeat(10), { ...LIMITS, maxBytes: 18 })).toThrow(
    "Vendor takes at most 18 bytes of text at a time",
  );
});

it.each([
  ["a", true],
  ["7", true],
  ["€", false],
  ["...", false],
])("knows for %j whether audio must come: %s", (text, expected) => {
  expect(mustSound(text)).toBe(expected);
});
