import { expect, test } from "vitest";
import { openSemaphore } from "./semaphore.ts";

test("runs work in order, up to its permits concurrently, also after a failure", async () => {
  const semaphore = openSemaphore(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const done = ends.map(({ promise }, index) =>
    semaphore(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  await expect.poll(() => begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("no"));
  await expect(done[1]).rejects.toThrow("no");
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all([done[0], done[2], done[3]])).toEqual([0, 2, 3]);
});
