import { afterEach, expect, it, vi } from "vitest";
import { ClaimLoop, isTriedAgain } from "./claim-loop.ts";

const LIMIT = { timeout: 30_000, interval: 5 };

afterEach(() => vi.restoreAllMocks());

function openLoop(intervalMs: number): { readonly loop: ClaimLoop; readonly claims: () => number } {
  let claims = 0;
  const claim = (): Promise<void> => {
    claims += 1;
    return Promise.resolve();
  };
  const loop = new ClaimLoop({ claim, intervalMs });
  loop.open();
  return { loop, claims: () => claims };
}

it("claims only when asked, and one at a time", async () => {
  let [claims, atOnce] = [0, 0];
  const loop = new ClaimLoop({
    claim: async () => {
      expect((atOnce += 1)).toBe(1);
      claims += 1;
      if (claims === 1) loop.wake();
      await new Promise(setImmediate);
      atOnce -= 1;
    },
    intervalMs: 0,
  });
  loop.wake();
  expect(claims).toBe(0);
  loop.open();
  for (let requested = 0; requested < 10; requested += 1) loop.wake();
  await expect.poll(() => claims, LIMIT).toBe(2);
  await loop.close();
  loop.wake();
  await new Promise(setImmediate);
  expect(claims).toBe(2);
});

it("continues when the clock of the machine is set back by a day", async () => {
  const { loop, claims } = openLoop(1);
  loop.wake();
  await expect.poll(claims, LIMIT).toBe(1);
  const now = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => now - 86_400_000);
  loop.holdBack(1);
  loop.wake();
  await vi.waitFor(() => expect(claims()).toBe(2), LIMIT);
  await loop.close();
});

it("tries outcomes again for longer than a lease, and shortly once the service stops", async () => {
  const nowMs = performance.now();
  expect(await isTriedAgain(nowMs - 31_000, () => true)).toBe(true);
  expect(await isTriedAgain(nowMs - 60_000, () => true)).toBe(false);
  expect(await isTriedAgain(nowMs - 31_000, () => false)).toBe(false);
  expect(await isTriedAgain(nowMs, () => false)).toBe(true);
});
