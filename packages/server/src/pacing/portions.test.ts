import { expect, it } from "vitest";
import { inPortions } from "./portions.ts";

const never = new AbortController().signal;

it("continues while there may be more", async () => {
  const left = [true, true, false, true];
  await inPortions({ most: 10, signal: never }, () => Promise.resolve(left.shift() ?? false));
  expect(left).toEqual([true]);
});

it("stops after as many portions as one run may have", async () => {
  let portions = 0;
  await inPortions({ most: 3, signal: never }, () => {
    portions += 1;
    return Promise.resolve(true);
  });
  expect(portions).toBe(3);
});

it("begins no portion after an abort", async () => {
  const stopping = new AbortController();
  let portions = 0;
  await inPortions({ most: 10, signal: stopping.signal }, () => {
    portions += 1;
    if (portions === 2) stopping.abort();
    return Promise.resolve(true);
  });
  expect(portions).toBe(2);
});

it("passes a failure on", async () => {
  const failing = inPortions({ most: 2, signal: never }, () => Promise.reject(new Error("no database")));
  await expect(failing).rejects.toThrow("no database");
});
