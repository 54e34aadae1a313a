import { describe, expect, it } from "vitest";
import { filesBelow, readSource } from "../source-text.ts";
import { interfacePage, PAGE } from "./page.ts";
import { PARTS } from "./parts.ts";
import { isElsewhere } from "./rules.ts";

/** Columns are padded by the formatter. */
const words = (text: string): string => text.replaceAll(/[ -]+/g, " ").trim();

describe("the page of the interface", () => {
  it("lists every row as the tests have them", () => {
    expect(words(readSource(PAGE))).toBe(words(interfacePage()));
  });

  it("leaves no row without proof", () => {
    const unproven = Object.entries(PARTS).flatMap(([part, rules]) =>
      Object.entries(rules)
        .filter(([, proofs]) => proofs.length === 0)
        .map(([row]) => `${part}: ${row}`),
    );
    expect(unproven).toEqual([]);
  });

  it("names tests that are there", () => {
    const tests = new Set(filesBelow("packages"));
    const named = Object.values(PARTS)
      .flatMap((rules) => Object.values(rules).flat())
      .filter(isElsewhere);
    const missing = named.filter(({ file, title }) => !tests.has(file) || !readSource(file).includes(title));
    expect(missing).toEqual([]);
  });
});
