/** Rules of CONTRIBUTING.md that a machine can keep: size, words, exports, tests that run, nothing of one machine. */

import { basename } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { codeOnly, filesBelow, readSource } from "./source-text.ts";

/** A file longer than this has two subjects. */
const MAX_FILE_LINES = 400;

const files = [...filesBelow("packages"), ...filesBelow("docs")];
const code = files
  .filter((path) => path.startsWith("packages/") && /\.tsx?$/.test(path))
  .map((path) => {
    const source = readSource(path);
    return { path, source, code: codeOnly(source) };
  });

/** Words for which the project has better ones. A name is cut at humps, dots, dashes and underscores. */
const OTHER_WORDS = new Set([
  "session",
  "sessions",
  "bot",
  "bots",
  "bargein",
  "barge",
  "manager",
  "managers",
  "helper",
  "helpers",
  "service",
  "services",
  "util",
  "utils",
]);

/** Names that are not ours to choose: fields of the interface, and what libraries export. */
const GIVEN_NAMES = new Set([
  "sessionStorage",
  "serviceCallTokenRequirement",
  "InferenceSession",
  "terminateSession",
  "AWS_SESSION_TOKEN",
  "sessionToken",
  "SrtpSession",
  "SrtcpSession",
  "ServiceAccount",
  "serviceAccount",
  "addService",
  "SessionDescription",
]);

/** Source without the text that a component displays to people. */
function namesIn(path: string, code: string): string {
  return path.endsWith(".tsx") ? code.replaceAll(/>[^<>{}]+(?=[<{])/g, ">") : code;
}

function otherWordsIn(name: string): string[] {
  if (GIVEN_NAMES.has(name)) return [];
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => OTHER_WORDS.has(word));
}

describe("source files", () => {
  test("have at most 400 lines", () => {
    const long = code.filter(({ source }) => source.split("\n").length - 1 > MAX_FILE_LINES);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test("export by name, except where a tool demands a default", () => {
    const byDefault = code.filter(
      ({ path, code }) => /\bexport\s+default\b/.test(code) && !path.endsWith(".config.ts"),
    );
    expect(byDefault.map(({ path }) => path)).toEqual([]);
  });

  test("use the words of the project in names and file names", () => {
    // The demo and the benchmarks are outside and concern the service as a whole.
    const inside = (path: string): boolean => /^packages\/[^/]+\/src\//.test(path);
    const named = code
      .filter(({ path }) => inside(path))
      .flatMap(({ path, code }) =>
        [...new Set(namesIn(path, code).match(/[A-Za-z_$][\w$]*/g) ?? [])]
          .filter((name) => otherWordsIn(name).length > 0)
          .map((name) => `${path}: ${name}`),
      );
    const filed = files.filter((path) => inside(path) && otherWordsIn(basename(path)).length > 0);
    expect([...named, ...filed]).toEqual([]);
  });

  test("have no enum, no namespace and no barrel but a package's entry", () => {
    const refused = code.filter(({ code }) =>
      /^[ \t]*(?:export\s+)?(?:const\s+)?(?:enum|namespace)\s+\w/m.test(code),
    );
    const barrels = code.filter(
      ({ path }) => basename(path) === "index.ts" && !/^packages\/[^/]+\/src\/index\.ts$/.test(path),
    );
    expect([...refused, ...barrels].map(({ path }) => path)).toEqual([]);
  });

  test("leave nothing for later in a comment", () => {
    const unfinished = code.filter(({ source }) =>
      /\b(?:TODO|FIXME|XXX|HACK)\b/.test(withoutOwnRules(source)),
    );
    expect(unfinished.map(({ path }) => path)).toEqual([]);
  });

  test("silence no rule of the compiler", () => {
    const silenced = code.filter(({ source }) =>
      /@ts-(?:ignore|nocheck|expect-error)/.test(withoutOwnRules(source)),
    );
    expect(silenced.map(({ path }) => path)).toEqual([]);
  });
});

describe("tests", () => {
  const tests = code.filter(({ path }) => path.endsWith(".test.ts"));

  // A test that needs something outside the repository may be skipped, if its file says so visibly.
  test("are all run: none skipped, none alone, but where a missing thing is named aloud", () => {
    const partly = tests.filter(({ code, source }) => {
      const marks = code.matchAll(
        /\b(?:test|it|describe|suite)\s*(?:\.\s*\w+\s*)*\.\s*(skip|only|todo|skipIf|runIf|fails)\b/g,
      );
      // The set-up of the console's tests says so for all of them.
      const aloud = /process\.stderr\.write\("skipped:|skipIf\(!HAS_CONSOLE\)/.test(source);
      return [...marks].some(([, mark]) => mark !== "skipIf" || !aloud);
    });
    expect(partly.map(({ path }) => path)).toEqual([]);
  });

  test("without a database, model or socket do not sleep", () => {
    const pure = tests.filter(({ path }) => !/\.(?:db|media)\.test\.ts$/.test(path));
    const sleeping = pure.filter(({ code }) => /\bsetTimeout\s*\(|\bsleep\s*\(/.test(code));
    expect(sleeping.map(({ path }) => path)).toEqual([]);
  });
});

describe("the repository", () => {
  const TEXT = /\.(?:tsx?|mjs|js|json|md|sql|ya?ml|txt|html|css)$/;
  const texts = [
    ...files,
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "NOTICE",
  ].filter((path) => TEXT.test(path) || !path.includes("."));

  test("names no path of one machine", () => {
    const PLACE = /(?<![\w.:/-])\/(?:work|root|home\/\w|Users\/\w|opt\/n\d|tmp\/\w)[\w/.-]*/;
    const placed = texts
      .filter((path) => existsAsText(path))
      .flatMap((path) => {
        const found = PLACE.exec(withoutOwnRules(readSource(path)));
        return found === null ? [] : [`${path}: ${found[0]}`];
      });
    expect(placed).toEqual([]);
  });
});

function existsAsText(path: string): boolean {
  return path.includes("/") || filesBelow(".").includes(path);
}

/** This file's own patterns are excluded from the search. */
function withoutOwnRules(source: string): string {
  return source.startsWith("/** Rules of CONTRIBUTING.md that a machine can keep") ? "" : source;
}
