import type { ScheduledCallWrite } from "@parley/schema";
import { expect, it } from "vitest";
import { checkCalls } from "./rules.ts";
import type { HandlerDeps } from "../../api/endpoint.ts";

/** Contexts that are checked in one step. */
async function looksAt(calls: readonly ScheduledCallWrite[]): Promise<readonly number[][]> {
  const checks: number[][] = [];
  const contextChecker = async () => ({
    problemsOf: async () => [],
    allGood: async (contexts: readonly object[]) => {
      checks.push(contexts.map((context) => JSON.stringify(context).length));
      return true;
    },
  });
  await checkCalls("account", calls, {}, { http: { contextChecker } } as unknown as HandlerDeps);
  return checks;
}

const callOf = (bytes: number): ScheduledCallWrite => ({ templateContext: { a: ["x".repeat(bytes)] } });

it("looks at fifty small contexts at once, and at every one", async () => {
  const checks = await looksAt(Array.from({ length: 120 }, () => ({})));
  expect(checks.map(({ length }) => length)).toEqual([50, 50, 20]);
});

it("looks at large contexts one by one", async () => {
  const checks = await looksAt(Array.from({ length: 28 }, () => callOf(900_000)));
  expect(checks.map(({ length }) => length)).toEqual(Array.from({ length: 28 }, () => 1));
});

it("looks at no more than 64 KiB at once where no context is larger", async () => {
  const sizes = Array.from({ length: 200 }, (_, index) => 1_000 + ((index * 7_919) % 50_000));
  const checks = await looksAt(sizes.map(callOf));
  expect(checks.flat()).toHaveLength(200);
  for (const look of checks) expect(look.reduce((sum, size) => sum + size, 0)).toBeLessThan(66_000);
});
