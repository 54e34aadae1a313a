import { expect, test } from "vitest";
import { playConversation } from "./conversation.ts";
import { Draw } from "./draw.ts";
import { KIND_NAMES } from "./kinds.ts";

/** A short run of `npm run sim`, so that the suite detects a kind of trouble that breaks the engine. */
const RUNS_PER_KIND = 12;

test.each(KIND_NAMES)("conversations with trouble of the kind %s hold every invariant", (kind) => {
  for (let seed = 1; seed <= RUNS_PER_KIND; seed += 1) {
    expect(playConversation(seed, [kind]).steps).toBeGreaterThan(10);
  }
});

test("the same seed plays the same conversation", () => {
  expect(playConversation(42, KIND_NAMES)).toEqual(playConversation(42, KIND_NAMES));
  const first = new Draw(7);
  const second = new Draw(7);
  expect(Array.from({ length: 50 }, () => first.unit())).toEqual(
    Array.from({ length: 50 }, () => second.unit()),
  );
});

test("draws cover their whole range and nothing else", () => {
  const draw = new Draw(3);
  const drawn = new Set(Array.from({ length: 400 }, () => draw.whole(2, 5)));
  expect([...drawn].toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5]);
});
