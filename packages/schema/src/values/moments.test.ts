import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CalendarDate, DateTime, moment } from "./moments.ts";

describe("a date-time", () => {
  it.each([
    ["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.678Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02T03:04", "2026-01-02T03:04:00.000Z"],
    ["2026-01-02T03:04:05+0200", "2026-01-02T01:04:05.000Z"],
    ["2026-01-02T03:04-0130", "2026-01-02T04:34:00.000Z"],
    ["2026-01-02T00:04:05-05:30", "2026-01-02T05:34:05.000Z"],
    ["2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000Z"],
    ["2026-01-02T03:04:05.123456789Z", "2026-01-02T03:04:05.123Z"],
    ["2024-02-29T00:00Z", "2024-02-29T00:00:00.000Z"],
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
    ["0000-12-31T23:00:00-01:00", "0001-01-01T00:00:00.000Z"],
  ])("%s is read as %s", (text, read) => {
    expect(DateTime.parse(text)).toBe(read);
  });

  it.each([
    "2026-01-02",
    "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-02 03:04:05",
    "2026-01-02T25:00:00Z",
    "0000-01-01T00:00:00+14:00",
    "0000-12-31T23:59:59.999Z",
    "0001-01-01T00:59:59+01:00",
    "9999-12-31T23:59:59-01:00",
    "yesterday",
    "",
  ])("%s is none", (text) => {
    expect(DateTime.safeParse(text).success).toBe(false);
  });

  it("reads the same when it is read again", () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") }),
        (date) => {
          const once = DateTime.parse(date.toISOString());
          expect(DateTime.parse(once)).toBe(once);
        },
      ),
    );
  });
});

describe("a bare date", () => {
  it("means its first or its last moment", () => {
    expect(moment("first").parse("2026-01-02")).toBe("2026-01-02T00:00:00.000Z");
    expect(moment("last").parse("2026-01-02")).toBe("2026-01-02T23:59:59.999Z");
    expect(moment("last").safeParse("2026-02-30").success).toBe(false);
  });

  it.each(["0000-01-01", "0000-12-31"])("%s lies in a year that there is not", (text) => {
    for (const schema of [moment("first"), moment("last"), CalendarDate]) {
      expect(schema.safeParse(text).success).toBe(false);
      expect(schema.safeParse("0001-01-01").success).toBe(true);
    }
  });
});
