import { expect, it } from "vitest";
import { KnownSources } from "./known-sources.ts";

function open(ranges: readonly string[]) {
  const state = { ranges, nowMs: 0, reads: 0, failures: 0, fails: false };
  const sources = new KnownSources({
    read: () => {
      state.reads += 1;
      return state.fails ? Promise.reject(new Error("no database")) : Promise.resolve(state.ranges);
    },
    nowMs: () => state.nowMs,
    failed: () => (state.failures += 1),
  });
  return { state, sources };
}

it("knows the ranges, and no IPv6 address", async () => {
  const { sources } = open(["203.0.113.0/24", "198.51.100.7/32"]);
  const known = ["203.0.113.9", "198.51.100.7", "198.51.100.8", "::1", "nonsense"];
  expect(await Promise.all(known.map((address) => sources.hasNow(address)))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

it("reads the ranges again for strangers, but not for each of them", async () => {
  const { state, sources } = open([]);
  for (let calls = 0; calls < 100; calls += 1) expect(await sources.hasNow("203.0.113.9")).toBe(false);
  expect(state.reads).toBe(1);
  state.ranges = ["203.0.113.0/24"];
  state.nowMs = 2_001;
  expect(await sources.hasNow("203.0.113.9")).toBe(true);
  expect(state.reads).toBe(2);
});

it("keeps what it knows while the database fails", async () => {
  const { state, sources } = open(["203.0.113.0/24"]);
  expect(await sources.hasNow("203.0.113.9")).toBe(true);
  state.fails = true;
  state.nowMs = 31_000;
  expect(sources.has("203.0.113.9")).toBe(true);
  expect(await sources.hasNow("192.0.2.1")).toBe(false);
  expect([state.failures, sources.has("203.0.113.9")]).toEqual([1, true]);
});

it("lets registrars send more than strangers, without making them sources of calls", async () => {
  const { sources } = open(["203.0.113.0/24"]);
  await sources.hasNow("203.0.113.9");
  sources.setRegistrars(new Set(["192.0.2.1", "2001:db8::1"]));
  const addresses = ["192.0.2.1", "2001:db8::1", "203.0.113.9", "192.0.2.2"];
  expect(addresses.map((address) => sources.has(address))).toEqual([true, true, true, false]);
  expect(await sources.hasNow("192.0.2.1")).toBe(false);
  sources.setRegistrars(new Set());
  expect(sources.has("192.0.2.1")).toBe(false);
});

it("takes calls from wide ranges, without letting everybody send more than strangers", async () => {
  const { sources } = open(["0.0.0.0/0", "198.51.0.0/16"]);
  expect(await sources.hasNow("203.0.113.9")).toBe(true);
  expect([sources.has("203.0.113.9"), sources.has("198.51.7.7")]).toEqual([false, true]);
});
