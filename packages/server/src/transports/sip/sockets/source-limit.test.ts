import { expect, it } from "vitest";
import { hasTooMany, MAX_OF_SOURCE } from "./source-limit.ts";

const open = (count: number, addressOf: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => ({ address: addressOf(n) }));

it("counts connections of one address", () => {
  const ofOne = open(MAX_OF_SOURCE, () => "192.0.2.1");
  expect(hasTooMany("192.0.2.1", ofOne)).toBe(true);
  expect(hasTooMany("192.0.2.2", ofOne)).toBe(false);
  expect(hasTooMany("192.0.2.1", ofOne.slice(1))).toBe(false);
});

it("counts a network of IPv6 as one source, however many addresses it uses", () => {
  const ofOne = open(MAX_OF_SOURCE, (n) => `2001:db8:1:2::${n.toString(16)}`);
  expect(hasTooMany("2001:db8:1:2:ffff::1", ofOne)).toBe(true);
  expect(hasTooMany("2001:db8:1:3::1", ofOne)).toBe(false);
});
