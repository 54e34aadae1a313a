import { expect, it } from "vitest";
import { FLOOD_LIMITS, FloodGate, networkOf } from "./flood-gate.ts";

it("lets a source through up to its burst, and then at its rate", () => {
  const gate = new FloodGate();
  const { burst, perSecond } = FLOOD_LIMITS.unknown;
  const admitted = (nowMs: number) =>
    Array.from({ length: 1_000 }, () => gate.admit("1.1.1.1", false, nowMs)).filter(Boolean);
  expect(admitted(0)).toHaveLength(burst);
  expect(admitted(1_000)).toHaveLength(perSecond);
  // Nobody else pays for it.
  expect(gate.admit("2.2.2.2", false, 1_000)).toBe(true);
  expect(gate.dropped).toBe(2_000 - burst - perSecond);
});

it("lets known sources through while invented ones use up what all of those have", () => {
  const gate = new FloodGate();
  let admitted = 0;
  for (let n = 0; n < 20_000; n += 1)
    if (gate.admit(`9.9.${String(n >> 8)}.${String(n & 255)}`, false, 0)) admitted += 1;
  expect(admitted).toBe(FLOOD_LIMITS.allUnknown.burst);
  expect(gate.admit("1.1.1.1", true, 0)).toBe(true);
  expect(gate.sources).toBeLessThanOrEqual(10_000);
});

it("counts a network of IPv6 as one source", () => {
  expect(networkOf("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
  expect(networkOf("2001:db8:1:2::1")).toBe("2001:db8:1:2");
  expect(networkOf("2001:db8::1")).toBe("2001:db8:0:0");
  expect(networkOf("1.2.3.4")).toBe("1.2.3.4");
});
