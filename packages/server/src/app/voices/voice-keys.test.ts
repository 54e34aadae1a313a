import { expect, test } from "vitest";
import { createVoiceKeys, type KeyNeed } from "./voice-keys.ts";

const NEED: KeyNeed = { accountId: "a", provider: "provider1", key: "account", vendor: "ElevenLabs" };

function setUp(deployment: object = {}) {
  const world = { nowMs: 0, key: "first" as string | null | Error, reads: 0 };
  const keys = createVoiceKeys({
    readAccountKey: async () => {
      world.reads += 1;
      if (world.key instanceof Error) throw world.key;
      return world.key;
    },
    deployment,
    nowMs: () => world.nowMs,
  });
  return { world, keys };
}

test("a key is read once for half a minute, also by many at once", async () => {
  const { world, keys } = setUp();
  expect(await Promise.all([keys.keyFor(NEED), keys.keyFor(NEED)])).toEqual(["first", "first"]);
  world.key = "second";
  world.nowMs = 29_999;
  expect(await keys.keyFor(NEED)).toBe("first");
  world.nowMs = 30_000;
  expect(await keys.keyFor(NEED)).toBe("second");
  expect(world.reads).toBe(2);
});

test("a refused key is read again, and what could not be read is not kept", async () => {
  const { world, keys } = setUp();
  await keys.keyFor(NEED);
  world.key = new Error("the database is away");
  keys.forget(NEED);
  await expect(keys.keyFor(NEED)).rejects.toThrow("the database is away");
  world.key = "later";
  expect(await keys.keyFor(NEED)).toBe("later");
});

test("the deployment's key serves where the plan says so, and where the account's is gone", async () => {
  const { world, keys } = setUp({ provider1: "ours" });
  expect(await keys.keyFor({ ...NEED, key: "deployment" })).toBe("ours");
  expect(world.reads).toBe(0);
  world.key = null;
  expect(await keys.keyFor(NEED)).toBe("ours");
  expect(await keys.keyFor({ ...NEED, provider: "generic", key: "none" })).toBe("");
});

test("no key at all is a permanent failure that names the vendor", async () => {
  const { world, keys } = setUp();
  world.key = null;
  const failure = { isPermanent: true, message: "there is no key for ElevenLabs any more" };
  await expect(keys.keyFor(NEED)).rejects.toMatchObject(failure);
});

test("not more than a thousand keys are kept", async () => {
  const { world, keys } = setUp();
  for (let n = 0; n <= 1_000; n += 1) await keys.keyFor({ ...NEED, accountId: `a${String(n)}` });
  const before = world.reads;
  await keys.keyFor({ ...NEED, accountId: "a1" });
  expect(world.reads).toBe(before);
  await keys.keyFor({ ...NEED, accountId: "a0" });
  expect(world.reads).toBe(before + 1);
});
