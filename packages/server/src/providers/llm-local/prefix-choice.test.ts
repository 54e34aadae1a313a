import { expect, it } from "vitest";
import { chooseContext, commonPrefix } from "./prefix-choice.ts";

const context = (usedAt: number, ...tokens: number[]) => ({ usedAt, tokens });

it("counts the tokens that two prompts begin with", () => {
  expect(commonPrefix([1, 2, 3], [1, 2, 4, 3])).toBe(2);
  expect(commonPrefix([1, 2], [1, 2, 3])).toBe(2);
  expect(commonPrefix([], [1])).toBe(0);
});

it("takes the context of the same call, whatever was used last", () => {
  const own = context(1, 1, 2, 3, 4, 5);
  const other = context(2, 1, 2, 9, 9, 9);
  expect(chooseContext([other, own], [1, 2, 3, 4, 5, 6])).toBe(own);
});

it("leaves a long call its context, where a new call shares only the beginning with it", () => {
  const empty = context(0);
  const long = context(1, 1, 2, 3, 4, 5, 6);
  expect(chooseContext([long, empty], [1, 2, 9])).toBe(empty);
  expect(chooseContext([long, empty], [1, 2, 3, 4, 9])).toBe(long);
});

it("takes the one that was used least recently where all are alike, and none where there is none", () => {
  const [older, newer] = [context(3, 7, 7), context(4, 8, 8)];
  expect(chooseContext([newer, older], [1, 2])).toBe(older);
  expect(chooseContext([], [1])).toBeNull();
});
