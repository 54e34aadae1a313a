import { expect, it } from "vitest";
import { FaultTally } from "./fault-tally.ts";

it("reports the first error at once, and those that follow once a minute", () => {
  const tally = new FaultTally();
  expect(tally.add(5_000)).toBe(1);
  for (let count = 0; count < 500; count += 1) expect(tally.add(5_001 + count)).toBeNull();
  expect(tally.add(65_000)).toBe(501);
  expect(tally.add(65_001)).toBeNull();
  expect(tally.add(1_000_000)).toBe(2);
});
