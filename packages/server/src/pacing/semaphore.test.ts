import { expect, test } from "vitest";
import { openKeyedSemaphore, openSemaphore, RefusedError } from "./semaphore.ts";

test("runs work in order, up to its permits concurrently, also after a failure", async () => {
  const semaphore = openSemaphore(2);
  const begun: number[] = [];
  const ends = [0, 1, 2, 3].map(() => Promise.withResolvers<void>());
  const done = ends.map(({ promise }, index) =>
    semaphore(async () => {
      begun.push(index);
      await promise;
      return index;
    }),
  );
  await expect.poll(() => begun).toEqual([0, 1]);
  ends[1]?.reject(new Error("no"));
  await expect(done[1]).rejects.toThrow("no");
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { resolve } of ends) resolve();
  expect(await Promise.all([done[0], done[2], done[3]])).toEqual([0, 2, 3]);
});

/** Work that runs until it is told to end. */
function works() {
  const semaphore = openKeyedSemaphore({ permits: 3, permitsPerKey: 2 });
  const begun: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<void>>();
  const add = (key: string, name: string): Promise<string> => {
    const end = Promise.withResolvers<void>();
    ends.set(name, end);
    return semaphore(key, async () => {
      begun.push(name);
      await end.promise;
      return name;
    });
  };
  return {
    begun,
    add,
    end: (name: string) => ends.get(name)?.resolve(),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

test("a key has its share, and what waits for it is passed by other keys", async () => {
  const { begun, add, end } = works();
  const all = [add("a", "a1"), add("a", "a2"), add("a", "a3"), add("b", "b1"), add("b", "b2")];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end("b1");
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "b2"]);
  end("a1");
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "b2", "a3"]);
  for (const name of ["a2", "a3", "b2"]) end(name);
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1", "b2"]);
});

test("work that fails gives its permit back", async () => {
  const { begun, add, end, fail } = works();
  const failing = [add("a", "a1"), add("a", "a2")];
  const third = add("a", "a3");
  await expect.poll(() => begun).toEqual(["a1", "a2"]);
  for (const name of ["a1", "a2"]) fail(name);
  expect((await Promise.allSettled(failing)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  end("a3");
  expect(await third).toBe("a3");
});

test("a free permit passes to the key that has the fewest", async () => {
  const { begun, add, end } = works();
  const all = [
    add("a", "a1"),
    add("a", "a2"),
    add("b", "b1"),
    add("a", "a3"),
    add("b", "b2"),
    add("c", "c1"),
  ];
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1"]);
  end("a1");
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "c1"]);
  end("a2");
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "c1", "a3"]);
  for (const name of ["a3", "b1", "c1"]) end(name);
  await expect.poll(() => begun).toEqual(["a1", "a2", "b1", "c1", "a3", "b2"]);
  end("b2");
  expect(await Promise.all(all)).toHaveLength(6);
});

test("work beyond the places of the queue is refused, for each key and for all", async () => {
  const semaphore = openKeyedSemaphore({
    permits: 1,
    permitsPerKey: 1,
    limit: { most: 3, mostPerKey: 2, refusal: "full" },
  });
  const end = Promise.withResolvers<void>();
  const all = ["a", "a", "a"].map((key) => semaphore(key, () => end.promise));
  await expect(semaphore("a", () => end.promise)).rejects.toBeInstanceOf(RefusedError);
  all.push(semaphore("b", () => end.promise));
  await expect(semaphore("c", () => end.promise)).rejects.toThrow("full");
  end.resolve();
  expect(await Promise.all(all)).toHaveLength(4);
});
