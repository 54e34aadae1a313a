import type { CallingHours } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { untilCallable } from "./calling-hours.ts";
import { zonesOfNumber } from "./number-zones.ts";

const workdays: CallingHours = {
  timeZone: "callee",
  days: ["mon", "tue", "wed", "thu", "fri"],
  start: "09:00",
  end: "18:00",
};
const HOUR_MS = 3_600_000;
const hoursUntil = (at: string, zones: readonly string[], hours = workdays): number | null => {
  const waitMs = untilCallable(hours, zones, Date.parse(at));
  return waitMs === null ? null : waitMs / HOUR_MS;
};

describe("calling hours", () => {
  test("are those of the zone, from their start up to their end", () => {
    const zone = ["Europe/Zurich"];
    // A Tuesday in winter: UTC+1.
    expect(hoursUntil("2030-01-08T07:59:00Z", zone)).toBeCloseTo(1 / 60);
    expect(hoursUntil("2030-01-08T08:00:00Z", zone)).toBe(0);
    expect(hoursUntil("2030-01-08T16:59:59Z", zone)).toBe(0);
    expect(hoursUntil("2030-01-08T17:00:00Z", zone)).toBe(15);
  });

  test("begin on the next day that is one of theirs", () => {
    // Friday evening, Saturday and Sunday to Monday.
    expect(hoursUntil("2030-01-11T18:00:00Z", ["Europe/Zurich"])).toBe(62);
    expect(hoursUntil("2030-01-08T17:00:00Z", ["Europe/Zurich"], { ...workdays, days: ["tue"] })).toBe(
      7 * 24 - 9,
    );
  });

  test("follow summer time", () => {
    // In the night to the 31st of March 2030, a Sunday, an hour is left out.
    const sunday: CallingHours = { ...workdays, days: ["sun"] };
    const waitMs = untilCallable(sunday, ["Europe/Zurich"], Date.parse("2030-03-30T17:00:00Z"));
    expect(new Date(Date.parse("2030-03-30T17:00:00Z") + (waitMs ?? 0)).toISOString()).toBe(
      "2030-03-31T07:00:00.000Z",
    );
  });

  test("hold in all zones that a number may be in, or are never", () => {
    const zones = zonesOfNumber("+12125550100") ?? [];
    expect(zones).toEqual(["America/New_York", "America/Los_Angeles"]);
    expect(hoursUntil("2030-01-08T16:00:00Z", zones)).toBe(1);
    expect(hoursUntil("2030-01-08T17:00:00Z", zones)).toBe(0);
    expect(hoursUntil("2030-01-08T23:30:00Z", zones)).toBe(17.5);
    expect(hoursUntil("2030-01-08T17:00:00Z", zones, { ...workdays, end: "11:00" })).toBeNull();
  });
});

describe("the zones of numbers", () => {
  test.each([
    ["+4930123456", "Europe/Berlin"],
    ["+41441234567", "Europe/Zurich"],
    ["+390612345678", "Europe/Rome"],
    ["+18085550100", "Pacific/Honolulu"],
    ["+77012345678", "Asia/Almaty"],
    ["+35312345678", "Europe/Dublin"],
  ])("%s is in %s", (number, zone) => {
    expect(zonesOfNumber(number)).toEqual([zone]);
  });

  test("are not known where a number belongs to no country", () => {
    expect([zonesOfNumber("+80012345678"), zonesOfNumber("+870123456")]).toEqual([null, null]);
  });

  test("are all ones that the runtime knows", () => {
    const unknown = new Set<string>();
    for (let code = 1; code < 10_000; code += 1) {
      for (const zone of zonesOfNumber(`+${code}`) ?? []) {
        try {
          new Intl.DateTimeFormat("en", { timeZone: zone });
        } catch {
          unknown.add(zone);
        }
      }
    }
    expect([...unknown]).toEqual([]);
  });
});
