import { expect, it } from "vitest";
import { retryWaitMs } from "./retries.ts";

it("doubles ten times from half a minute, and then gives up", () => {
  const waits = Array.from({ length: 11 }, (_, index) => retryWaitMs(index + 1, 0.5));
  const minutes = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];
  expect(waits).toEqual([...minutes.map((wait) => wait * 60_000), null]);
  const hours = minutes.reduce((sum, wait) => sum + wait, 0) / 60;
  expect(hours).toBeCloseTo(8.5, 1);
});

it("strays by a tenth to either side", () => {
  expect([retryWaitMs(1, 0), retryWaitMs(1, 1)]).toEqual([27_000, 33_000]);
});
