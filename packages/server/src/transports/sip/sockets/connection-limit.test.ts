import { expect, it } from "vitest";
import { ConnectionLimit, MAX_OF_KNOWN_SOURCE, MAX_OF_SOURCE, MAX_OF_UNKNOWN } from "./connection-limit.ts";

it("counts connections of one address until they are closed", () => {
  const limit = new ConnectionLimit();
  const open = Array.from({ length: MAX_OF_SOURCE }, () => limit.enter("192.0.2.1", false));
  expect(open).not.toContain(null);
  expect(limit.enter("192.0.2.1", false)).toBeNull();
  expect(limit.enter("192.0.2.2", false)).not.toBeNull();
  open[0]?.();
  open[0]?.();
  expect(limit.enter("192.0.2.1", false)).not.toBeNull();
  expect(limit.enter("192.0.2.1", false)).toBeNull();
});

it("counts a network of IPv6 as one source, however many addresses it uses", () => {
  const limit = new ConnectionLimit();
  for (let n = 0; n < MAX_OF_SOURCE; n += 1) limit.enter(`2001:db8:1:2::${n.toString(16)}`, false);
  expect(limit.enter("2001:db8:1:2:ffff::1", false)).toBeNull();
  expect(limit.enter("2001:db8:1:3::1", false)).not.toBeNull();
});

it("leaves connections for known sources, whatever the others do", () => {
  const limit = new ConnectionLimit();
  for (let n = 0; n < MAX_OF_UNKNOWN; n += 1) {
    expect(limit.enter(`10.${String(n >> 8)}.${String(n & 255)}.1`, false)).not.toBeNull();
  }
  expect(limit.enter("192.0.2.9", false)).toBeNull();
  for (let n = 0; n < 2 * MAX_OF_SOURCE; n += 1) expect(limit.enter("192.0.2.9", true)).not.toBeNull();
});

it("limits a known source as well, and leaves connections for the other known ones", () => {
  const limit = new ConnectionLimit();
  const open = Array.from({ length: MAX_OF_KNOWN_SOURCE }, () => limit.enter("192.0.2.1", true));
  expect(open).not.toContain(null);
  expect(limit.enter("192.0.2.1", true)).toBeNull();
  expect(limit.enter("192.0.2.2", true)).not.toBeNull();
  open[0]?.();
  expect(limit.enter("192.0.2.1", true)).not.toBeNull();
});
