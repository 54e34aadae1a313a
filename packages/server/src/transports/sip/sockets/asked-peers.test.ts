import { expect, it } from "vitest";
import { AskedPeers } from "./asked-peers.ts";

it("remembers whom we have asked for ten minutes after the last request", () => {
  const peers = new AskedPeers();
  peers.note("192.0.2.1", 0);
  peers.note("192.0.2.1", 300_000);
  expect([peers.has("192.0.2.1", 899_999), peers.has("192.0.2.2", 0)]).toEqual([true, false]);
  expect(peers.has("192.0.2.1", 900_000)).toBe(false);
});

it("forgets the one that was asked least recently", () => {
  const peers = new AskedPeers();
  const address = (n: number): string => `10.0.${String(n >> 8)}.${String(n & 255)}`;
  for (let n = 0; n < 2_000; n += 1) peers.note(address(n), 0);
  peers.note(address(0), 1);
  peers.note("192.0.2.1", 2);
  expect([0, 1, 2].map((n) => peers.has(address(n), 3))).toEqual([true, false, true]);
});
