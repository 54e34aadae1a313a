/** Checks that references in comments, tests and pages exist: decisions, clauses of the engine, files, headings. */

import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { anchorsOf, linksOf } from "./markdown.ts";
import { filesBelow, readSource, REPOSITORY } from "./source-text.ts";

const LEDGER = "docs/decisions/ledger.md";
const OWN = "packages/server/test/references.test.ts";
const SPEC = "packages/server/src/call/SPEC.md";
const TEXT = /\.(?:tsx?|mjs|css|html|sql|md)$/;

const texts = [...filesBelow("packages"), ...filesBelow("docs")]
  .filter((path) => TEXT.test(path) && path !== LEDGER && path !== OWN)
  .map((path) => ({ path, text: readSource(path) }));
const pages = texts.filter(({ path }) => path.endsWith(".md"));

/** Numbers such as `D12`, and all between the ends of `D125 to D127` or `D111–D116`. */
function numbersIn(text: string, letter: "D" | "R" | "I"): string[] {
  const range = new RegExp(`\\b${letter}(\\d{1,3}[a-z]?)\\b(?:(?:–| to )${letter}(\\d{1,3})\\b)?`, "g");
  return [...text.matchAll(range)].flatMap(([, first = "", last]) => {
    if (last === undefined) return [`${letter}${first}`];
    const from = Number.parseInt(first, 10);
    return Array.from({ length: Number(last) - from + 1 }, (_, more) => `${letter}${from + more}`);
  });
}

describe("numbers of decisions", () => {
  const decided = [...readSource(LEDGER).matchAll(/^- <a id="d(\d+)"><\/a>\*\*D(\d+)\*\* \S/gm)];
  const lines = new Set(decided.map(([, , number]) => `D${number}`));

  test("have one line each in the ledger, with an anchor", () => {
    expect(decided.filter(([, anchor, number]) => anchor !== number)).toEqual([]);
    expect(decided.length).toBe(lines.size);
    const unknown = texts.flatMap(({ path, text }) =>
      numbersIn(text, "D")
        .filter((number) => !lines.has(number))
        .map((number) => `${path}: ${number} has no line in ${LEDGER}`),
    );
    expect(unknown).toEqual([]);
  });

  test("stand in the ledger only while something refers to them", () => {
    const referred = new Set(texts.flatMap(({ text }) => numbersIn(text, "D")));
    expect([...lines].filter((number) => !referred.has(number))).toEqual([]);
  });

  test("are links into the ledger on pages", () => {
    const bare = pages.flatMap(({ path, text }) => {
      const unlinked = text.replaceAll(/\[(D\d+)\]\([^)]*ledger\.md#(d\d+)\)/g, (link, number, anchor) =>
        String(number).toLowerCase() === anchor ? "" : link,
      );
      return numbersIn(unlinked, "D").map((number) => `${path}: ${number}`);
    });
    expect(bare).toEqual([]);
  });
});

describe("links between pages", () => {
  const linking = [
    ...pages,
    ...[LEDGER, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map((path) => ({
      path,
      text: readSource(path),
    })),
  ];

  test("lead to files and headings that exist", () => {
    const broken = linking.flatMap(({ path, text }) =>
      linksOf(text)
        .filter(({ target }) => !/^[a-z][a-z+.-]*:/i.test(target) && !leadsSomewhere(path, target))
        .map(({ line, target }) => `${path}:${line}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  function leadsSomewhere(from: string, target: string): boolean {
    const [file = "", anchor] = target.split("#", 2);
    const path = file === "" ? from : normalize(join(dirname(from), decodeURIComponent(file)));
    if (path.startsWith("..") || !existsSync(join(REPOSITORY, path))) return false;
    return anchor === undefined || !path.endsWith(".md") || anchorsOf(readSource(path)).has(anchor);
  }
});

describe("clauses of the engine", () => {
  const spec = readSource(SPEC);
  const stated = [...spec.matchAll(/^- \*\*([RI]\d{1,3}[a-z]?)\*\* \S/gm)].map(([, clause = ""]) => clause);
  const clauses = new Set(stated);

  test("are stated once each", () => {
    expect(stated.filter((clause, at) => stated.indexOf(clause) !== at)).toEqual([]);
    expect(stated.length).toBeGreaterThan(100);
  });

  test("that are cited stand in the specification", () => {
    const citing = /^packages\/server\/(?:src\/call\/|test\/|sim\/).*\.(?:ts|md)$/;
    const unknown = texts
      .filter(({ path }) => citing.test(path))
      .flatMap(({ path, text }) =>
        [...numbersIn(text, "R"), ...numbersIn(text, "I")]
          .filter((clause) => !clauses.has(clause))
          .map((clause) => `${path}: ${clause}`),
      );
    expect(unknown).toEqual([]);
  });

  test("are all cited by a file of the engine", () => {
    const engine = texts.filter(({ path }) => /^packages\/server\/src\/call\/(?!testing).*\.ts$/.test(path));
    const cited = new Set(
      engine.filter(({ path }) => !path.endsWith(".test.ts")).flatMap(({ text }) => numbersIn(text, "R")),
    );
    expect(stated.filter((clause) => clause.startsWith("R") && !cited.has(clause))).toEqual([]);
  });

  test("name tests that exist, as the gaps name every rule without one", () => {
    const named = [...spec.matchAll(/`([\w./-]+\.test\.ts)`(?::((?:\s+"[^"]+",?)+))?/g)];
    const missing = named.flatMap(([, file = "", titles = ""]) => {
      const path = normalize(join(dirname(SPEC), file));
      if (!existsSync(join(REPOSITORY, path))) return [path];
      const source = readSource(path);
      const absent = [...titles.matchAll(/"([^"]+)"/g)].filter(([quoted]) => !source.includes(quoted));
      return absent.map(([quoted]) => `${path}: ${quoted}`);
    });
    expect(missing).toEqual([]);
    const gaps = spec.slice(spec.indexOf("# Known gaps"));
    const unproven = spec
      .split(/^(?=- \*\*|\n)/m)
      .filter((item) => item.startsWith("- **R") && !item.includes(".test.ts`"))
      .map((item) => /R\d+[a-z]?/.exec(item)?.[0] ?? item)
      .filter((rule) => !new RegExp(`\\b${rule}\\b`).test(gaps));
    expect(unproven).toEqual([]);
  });
});
