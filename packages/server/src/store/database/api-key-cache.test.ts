import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { API_KEY_CACHE_MS, ApiKeyCache, type FoundKey } from "./api-key-cache.ts";

const found: FoundKey = {
  accountId: "account",
  prefix: "prefix",
  name: "key",
  scopes: ["read"],
  leftMs: Number.POSITIVE_INFINITY,
};

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

it("looks once for callers at the same time, and again after a moment", async () => {
  const cache = new ApiKeyCache();
  const look = vi.fn<() => Promise<FoundKey>>(async () => found);
  await Promise.all([cache.find("h", look), cache.find("h", look)]);
  expect(await cache.find("h", look)).toEqual({
    accountId: "account",
    prefix: "prefix",
    name: "key",
    scopes: ["read"],
  });
  expect(look).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(API_KEY_CACHE_MS);
  await cache.find("h", look);
  expect(look).toHaveBeenCalledTimes(2);
});

it("remembers neither keys that do not work nor failures", async () => {
  const cache = new ApiKeyCache();
  const look = vi.fn<() => Promise<FoundKey | null>>(async () => null);
  expect(await cache.find("h", look)).toBeNull();
  look.mockRejectedValueOnce(new Error("gone"));
  await expect(cache.find("h", look)).rejects.toThrow("gone");
  look.mockResolvedValueOnce(found);
  expect(await cache.find("h", look)).not.toBeNull();
  expect(look).toHaveBeenCalledTimes(3);
});

it("does not cache a look-up during which it was cleared", async () => {
  const cache = new ApiKeyCache();
  const { promise, resolve } = Promise.withResolvers<FoundKey>();
  const first = cache.find("h", async () => promise);
  cache.clear();
  resolve(found);
  await first;
  expect(await cache.find("h", async () => null)).toBeNull();
});

it("lets a key expire while it is cached", async () => {
  const cache = new ApiKeyCache();
  const look = async (): Promise<FoundKey> => ({ ...found, leftMs: 10 });
  expect(await cache.find("h", look)).not.toBeNull();
  vi.advanceTimersByTime(10);
  expect(await cache.find("h", async () => null)).toBeNull();
});

it("forgets the oldest beyond its limit", async () => {
  const cache = new ApiKeyCache();
  const look = vi.fn<() => Promise<FoundKey>>(async () => found);
  for (let index = 0; index <= 1_000; index += 1) await cache.find(`h${index}`, look);
  await cache.find("h1000", look);
  expect(look).toHaveBeenCalledTimes(1_001);
  await cache.find("h0", look);
  expect(look).toHaveBeenCalledTimes(1_002);
});
