import { expect, test } from "vitest";
import { cursorOf, readPage } from "./page-reading.ts";

const next = (cursor: string) => `https://voice.example/api/agents?cursor=${cursor}&pageSize=20`;

test("a cursor is taken out of the address of the next page", () => {
  expect(cursorOf(null)).toBeNull();
  expect(cursorOf(next("a%2Bb"))).toBe("a+b");
  expect(cursorOf("/api/agents?pageSize=20")).toBeNull();
});

test("empty pages are read over, up to the first row", async () => {
  const requested: (string | null)[] = [];
  const page = await readPage((cursor) => {
    requested.push(cursor);
    const at = cursor === null ? 0 : Number(cursor);
    return Promise.resolve({ results: at === 2 ? ["row"] : [], next: next(String(at + 1)), total: 1 });
  }, null);
  expect(requested).toEqual([null, "1", "2"]);
  expect(page).toEqual({ results: ["row"], next: next("3"), total: 1 });
});

test("a list of empty pages without an end is given up, and can be read on", async () => {
  let requested = 0;
  const page = await readPage(() => {
    requested += 1;
    return Promise.resolve({ results: [], next: next(String(requested)), total: 0 });
  }, "0");
  expect(requested).toBe(21);
  expect(page.next).toBe(next("21"));
});

test("an empty list ends at once", async () => {
  const page = await readPage(() => Promise.resolve({ results: [], next: null, total: 0 }), null);
  expect(page.results).toEqual([]);
});
