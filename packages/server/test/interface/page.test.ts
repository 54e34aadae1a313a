import { describe, expect, it } from "vitest";
import { filesBelow, readSource } from "../source-text.ts";
import { interfacePage, PAGE } from "./page.ts";
import { PARTS } from "./parts.ts";

/** Columns are padded by the formatter. */
const words = (text: string): string => text.replaceAll(/[ -]+/g, " ").trim();

const rows = Object.entries(PARTS).flatMap(([part, { rules, shown }]) =>
  Object.entries(rules).map(([row, proofs]) => ({
    name: `${part}: ${row}`,
    proofs,
    shown: shown[row] ?? [],
  })),
);

/** A test with exactly this title: `it("title", …)`, `test.each(…)("title", …)`, or over several lines. */
function hasTest(source: string, title: string): boolean {
  const literal = JSON.stringify(title).replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`\\(\\s*${literal},`).test(source);
}

describe("the page of the interface", () => {
  it("lists every row as the tests have them", () => {
    expect(words(readSource(PAGE))).toBe(words(interfacePage()));
  });

  it("says of every row what shows it, or what is missing", () => {
    expect(rows.filter(({ shown }) => shown.length === 0).map(({ name }) => name)).toEqual([]);
    const claims = rows.filter(
      ({ shown, proofs }) => proofs.length === 0 && shown.some(({ kind }) => kind === "requests"),
    );
    expect(claims.map(({ name }) => name)).toEqual([]);
  });

  it("names tests that are there, by their whole titles", () => {
    const tests = new Set(filesBelow("packages"));
    const missing = rows
      .flatMap(({ shown }) => shown)
      .filter((one) => one.kind === "test")
      .filter(({ file, title }) => !tests.has(file) || !hasTest(readSource(file), title));
    expect(missing).toEqual([]);
  });

  it("takes no test of shapes alone: those of the schema, and of these rows, call nothing", () => {
    const shapes = rows
      .flatMap(({ shown }) => shown)
      .filter((one) => one.kind === "test")
      .filter(({ file }) => /^packages\/(?:schema|server\/test\/interface)\//.test(file));
    expect(shapes).toEqual([]);
  });

  it("knows a part of a title from the whole", () => {
    const source = 'it.each([1])("a title, whole", () => {});\ntest(\n  "another",\n  () => {},\n);';
    expect(
      ["a title, whole", "another", "a title", "title, whole"].map((title) => hasTest(source, title)),
    ).toEqual([true, true, false, false]);
  });
});
