import { expect, it } from "vitest";
import { KEPT_MS, SourceLatch } from "./source-latch.ts";

const NAMED = { address: "192.0.2.1", port: 4_000 };
const NAT = { address: "192.0.2.1", port: 6_000 };
const NEIGHBOUR = { address: "192.0.2.1", port: 7_000 };
const STRANGER = { address: "198.51.100.9", port: 4_000 };

function latch(isSigned = false): SourceLatch {
  const made = new SourceLatch();
  made.agree(NAMED, ["192.0.2.1", "203.0.113.2"], isSigned);
  return made;
}

it("takes media from the addresses that were named, from any port, and from the first one alone", () => {
  const subject = latch();
  expect([NAT, STRANGER, { ...NAT, port: 0 }].map((from) => subject.admits(from, 0))).toEqual([
    true,
    false,
    false,
  ]);
  expect(subject.admits({ address: "203.0.113.2", port: 9 }, 0)).toBe(true);
  subject.heard(NAT, 0);
  expect(subject.place).toEqual(NAT);
  expect([NAT, NEIGHBOUR, STRANGER].map((from) => subject.admits(from, KEPT_MS - 1))).toEqual([
    true,
    false,
    false,
  ]);
});

it("lets another port of them take over after a silence, and the named one at any time", () => {
  const subject = latch();
  subject.heard(NAT, 0);
  expect(subject.admits(NEIGHBOUR, KEPT_MS)).toBe(true);
  expect(subject.admits(STRANGER, 60 * KEPT_MS)).toBe(false);
  expect(subject.admits(NAMED, 1)).toBe(true);
  subject.heard(NAMED, 1);
  expect(subject.admits(NAT, 2)).toBe(false);
});

it("takes signed media from everywhere", () => {
  const subject = latch(true);
  subject.heard(NAT, 0);
  expect(subject.admits(STRANGER, 1)).toBe(true);
  subject.heard(STRANGER, 1);
  expect(subject.place).toEqual(STRANGER);
});

it("forgets its place when the other side moves, or may not send from there any more", () => {
  const subject = latch();
  subject.heard(NAT, 0);
  subject.agree(NAMED, ["192.0.2.1"], false);
  expect(subject.place).toEqual(NAT);
  subject.agree(NAMED, ["203.0.113.2"], false);
  expect(subject.place).toBeNull();
  subject.agree(NAMED, ["192.0.2.1"], false);
  subject.heard(NAT, 0);
  subject.agree({ ...NAMED, port: 4_002 }, ["192.0.2.1"], false);
  expect(subject.place).toBeNull();
});
