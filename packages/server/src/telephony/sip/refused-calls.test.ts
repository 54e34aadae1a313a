import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { RefusedCalls, REPORT_INTERVAL_MS } from "./refused-calls.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("reports refused calls once a minute, with the sources of most of them", async () => {
  const lines: object[] = [];
  const refused = new RefusedCalls({ warn: (fields: object) => void lines.push(fields) } as never);
  for (let n = 0; n < 5; n += 1) refused.add(403, "192.0.2.1");
  refused.add(404, "192.0.2.2");
  for (let n = 0; n < 3_000; n += 1) refused.add(403, `10.0.${String(n >> 8)}.${String(n & 255)}`);
  expect(lines).toEqual([]);
  await vi.advanceTimersByTimeAsync(REPORT_INTERVAL_MS);
  expect(lines).toEqual([
    {
      count: 3_006,
      statuses: { 403: 3_005, 404: 1 },
      mostFrom: { "192.0.2.1": 5, "192.0.2.2": 1, "10.0.0.0": 1 },
    },
  ]);
  await vi.advanceTimersByTimeAsync(3 * REPORT_INTERVAL_MS);
  expect(lines).toHaveLength(1);
  refused.add(603, "192.0.2.1");
  refused.close();
  expect(lines).toHaveLength(2);
});
