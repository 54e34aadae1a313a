import { expect, it } from "vitest";
import { CLOCK_TOLERANCE_MS, clocksAgree, readClocks, refuseWrongClock } from "./clock-difference.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";

const DAY_MS = 86_400_000;

describeOnBothDatabases("the clock of a node", (current) => {
  it("is compared with that of the database, and refused with both times when it is far from it", async () => {
    const { db } = current();
    await refuseWrongClock(db);
    for (const offMs of [400 * DAY_MS, -400 * DAY_MS, 2 * CLOCK_TOLERANCE_MS]) {
      await expect(refuseWrongClock(db, () => Date.now() + offMs)).rejects.toThrow(
        /^The clock of this machine \(.*Z\) differs from the clock of the database \(.*Z\) by more than five minutes/,
      );
    }
  });

  it("may differ by five minutes; a slow answer counts half", async () => {
    const { db } = current();
    const times = [0, 4 * CLOCK_TOLERANCE_MS];
    const clocks = await readClocks(
      db,
      () => times.shift() ?? 0,
      () => Promise.resolve(CLOCK_TOLERANCE_MS),
    );
    expect(clocks).toEqual({ machineMs: 2 * CLOCK_TOLERANCE_MS, databaseMs: CLOCK_TOLERANCE_MS });
    expect(clocksAgree(clocks)).toBe(true);
    expect(clocksAgree({ ...clocks, databaseMs: CLOCK_TOLERANCE_MS - 1 })).toBe(false);
  });
});
