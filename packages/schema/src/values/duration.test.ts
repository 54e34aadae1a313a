import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  boundedDuration,
  Duration,
  DURATION_PATTERN,
  formatDurationMs,
  normalizeDuration,
  parseDurationMs,
} from "./duration.ts";
import { checkValue } from "./issues.ts";

describe("durations", () => {
  it.each([
    ["0s", 0],
    ["0.384s", 384],
    ["30s", 30_000],
    ["3600.000000s", 3_600_000],
    ["0.0000005s", 0.0005],
    ["-1.5s", -1500],
    ["-0.0s", 0],
    ["999999999999s", 999_999_999_999_000],
  ])("reads %s", (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms);
  });

  it.each([
    "",
    "s",
    "1",
    "01s",
    "1.s",
    ".5s",
    "1.0000000000s",
    "+1s",
    " 1s",
    "1 s",
    "1m",
    "1e3s",
    "1000000000000s",
    "1S",
  ])("refuses %j", (text) => {
    expect(() => parseDurationMs(text)).toThrow(RangeError);
    expect(() => normalizeDuration(text)).toThrow(RangeError);
    expect(Duration.safeParse(text).success).toBe(false);
  });

  it.each([
    ["3600.000000s", "3600s"],
    ["0.3840s", "0.384s"],
    ["1.000000001s", "1.000000001s"],
    ["-0.000s", "0s"],
    ["10s", "10s"],
    ["-2.50s", "-2.5s"],
  ])("shortens %s to %s", (text, short) => {
    expect(normalizeDuration(text)).toBe(short);
  });

  it.each([
    [0, "0s"],
    [-0, "0s"],
    [384, "0.384s"],
    [3_600_000, "3600s"],
    [0.0005, "0.0000005s"],
    [999.9999999, "1s"],
    [-1500, "-1.5s"],
    [0.0000001, "0s"],
  ])("prints %d ms as %s", (ms, text) => {
    expect(formatDurationMs(ms)).toBe(text);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1e15])("has no text for %d ms", (ms) => {
    expect(() => formatDurationMs(ms)).toThrow(RangeError);
  });

  it("reads back every whole number of microseconds that it prints", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }), (micros) => {
        const text = formatDurationMs(micros / 1000);
        expect(text).toMatch(DURATION_PATTERN);
        expect(normalizeDuration(text)).toBe(text);
        expect(Math.round(parseDurationMs(text) * 1000) + 0).toBe(micros);
      }),
    );
  });

  it("keeps the length and all digits when it shortens", () => {
    const digits = fc.stringMatching(/^[0-9]{1,9}$/);
    fc.assert(
      fc.property(fc.nat(), digits, (seconds, fraction) => {
        const text = `${seconds}.${fraction}s`;
        const short = normalizeDuration(text);
        expect(short).toMatch(DURATION_PATTERN);
        expect(short).not.toMatch(/\.\d*0s$/);
        expect(parseDurationMs(short)).toBe(parseDurationMs(text));
        expect(normalizeDuration(short)).toBe(short);
      }),
    );
  });
});

describe("duration fields", () => {
  it("parse to the shortest form", () => {
    expect(Duration.parse("30.000s")).toBe("30s");
  });

  it.each([
    [30, "must be text"],
    ["30", 'must be a duration such as "30s" or "0.384s"'],
    ["-1s", "must be at least 0s"],
    ["0.9s", "must be at least 1s"],
    ["1.000000001s", null],
    ["61s", "must be at most 60s"],
  ])("judge %j", (value, message) => {
    const checked = checkValue(boundedDuration({ minMs: value === "-1s" ? 0 : 1000, maxMs: 60_000 }), value);
    expect(checked.ok ? null : checked.errors[0]?.message).toBe(message);
  });

  it("can exclude their lower bound", () => {
    const above = boundedDuration({ exclusiveMin: true });
    expect(checkValue(above, "0s")).toEqual({
      ok: false,
      errors: [{ field: "", message: "must be more than 0s" }],
    });
    expect(checkValue(above, "0.001s").ok).toBe(true);
  });
});
