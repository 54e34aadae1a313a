import type { ScheduledCallWrite } from "@parley/schema";
import { expect, it } from "vitest";
import { checkCalls } from "./batch-rules.ts";
import type { HandlerDeps } from "./endpoint.ts";

/** Texts of the contexts that are checked at once, each time. */
async function looksAt(calls: readonly ScheduledCallWrite[]): Promise<readonly number[][]> {
  const looks: number[][] = [];
  const contextChecker = () => ({
    problemsOf: () => [],
    allGood: (contexts: readonly object[]) => {
      looks.push(contexts.map((context) => JSON.stringify(context).length));
      return true;
    },
  });
  await checkCalls(calls, {}, { http: { contextChecker } } as unknown as HandlerDeps);
  return looks;
}

const callOf = (bytes: number): ScheduledCallWrite => ({ templateContext: { a: ["x".repeat(bytes)] } });

it("looks at fifty small contexts at once, and at every one", async () => {
  const looks = await looksAt(Array.from({ length: 120 }, () => ({})));
  expect(looks.map(({ length }) => length)).toEqual([50, 50, 20]);
});

it("looks at large contexts one by one", async () => {
  const looks = await looksAt(Array.from({ length: 28 }, () => callOf(900_000)));
  expect(looks.map(({ length }) => length)).toEqual(Array.from({ length: 28 }, () => 1));
});

it("looks at no more than 64 KiB at once where no context is larger", async () => {
  const sizes = Array.from({ length: 200 }, (_, index) => 1_000 + ((index * 7_919) % 50_000));
  const looks = await looksAt(sizes.map(callOf));
  expect(looks.flat()).toHaveLength(200);
  for (const look of looks) expect(look.reduce((sum, size) => sum + size, 0)).toBeLessThan(66_000);
});
