/**
 * The import rules of ARCHITECTURE.md, type-only imports included. Imports that the table does not allow are refused,
 * so a new folder or package needs a row in `import-table.ts`.
 */

import { dirname, join, normalize } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { OUTSIDE, type Rule, RULES } from "./import-table.ts";
import { codeOnly, filesBelow, importsOf, packageOf, readSource } from "./source-text.ts";

const SERVER = "packages/server/src/";
const SCHEMA = "packages/schema/src/";

/** More code files than this in one folder hold two subjects. Tests do not count. */
const MAX_FILES_IN_FOLDER = 25;

interface SourceFile {
  readonly path: string;
  /** The first folder below the package's source, which has a row in `RULES`. */
  readonly layer: string;
  /** The path below the package's source. */
  readonly inside: string;
  readonly isTest: boolean;
  readonly isTesting: boolean;
  readonly source: string;
}

const files: readonly SourceFile[] = [...filesBelow(SCHEMA), ...filesBelow(SERVER)]
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, ...placeOf(path), source: readSource(path) }));

function placeOf(path: string): Omit<SourceFile, "path" | "source"> {
  const inside = path.startsWith(SCHEMA) ? `schema/${path.slice(SCHEMA.length)}` : path.slice(SERVER.length);
  const [first = ""] = inside.split("/");
  return {
    layer: first === "main.ts" ? "main" : inside.includes("/") ? first : `(root) ${inside}`,
    inside,
    isTest: path.endsWith(".test.ts"),
    isTesting: path.includes("/testing/"),
  };
}

const known = new Set(files.map((file) => file.path));
const shipped = files.filter((file) => !file.isTest && !file.isTesting);

function targetOf(file: SourceFile, specifier: string): string {
  return normalize(join(dirname(file.path), specifier));
}

function isBelow(inside: string, folder: string): boolean {
  return inside === folder || inside.startsWith(`${folder}/`);
}

/** Reason why a file may not import this; null when it may. */
function refusal(file: SourceFile, specifier: string, typeOnly: boolean): string | null {
  const rule = RULES[file.layer];
  if (rule === undefined) return `${file.path}: the folder "${file.layer}" has no row in the table`;
  if (!specifier.startsWith(".")) {
    return rule.packages.includes(packageOf(specifier)) ? null : `${file.path} may not import ${specifier}`;
  }
  const target = targetOf(file, specifier);
  if (OUTSIDE[file.layer]?.includes(target) === true) return null;
  if (!known.has(target)) return `${file.path} imports ${specifier}, which is no source file of its package`;
  const place = placeOf(target);
  if (place.isTest || place.isTesting)
    return `${file.path} is shipped and imports ${target}, which is for tests`;
  if (place.layer === file.layer) return refusalWithin(file, place.inside, rule);
  if (rule.folders.some((folder) => isBelow(place.inside, folder))) return null;
  if (rule.typesOf?.some((folder) => isBelow(place.inside, folder)) === true) {
    return typeOnly ? null : `${file.path} may import only types of ${target}`;
  }
  return `${file.path} may not import ${target}`;
}

/** Whether folders of one layer may import each other. */
function refusalWithin(file: SourceFile, target: string, { separate, base }: Rule): string | null {
  const folderOf = (inside: string): string => inside.split("/").slice(0, -1).slice(0, 2).join("/");
  const [own, other] = [folderOf(file.inside), folderOf(target)];
  if (own === base && other !== base) return `${file.path} may not import ${target}, which builds on it`;
  if (separate === undefined) return null;
  // A file directly in such a layer serves all its folders.
  if (own === other || other === file.layer) return null;
  if (separate.shared.includes(other) && !separate.shared.includes(own)) return null;
  return `${file.path} may not import ${target}, a sibling`;
}

describe("the layers of the server", () => {
  test("every file lies in a folder with a row in the table, and every row has files", () => {
    expect(shipped.filter((file) => RULES[file.layer] === undefined).map((file) => file.path)).toEqual([]);
    const used = new Set(shipped.map((file) => file.layer));
    expect(Object.keys(RULES).filter((layer) => !used.has(layer))).toEqual([]);
  });

  test("files import only what the table allows", () => {
    const refused = shipped
      .flatMap((file) =>
        importsOf(file.source).map(({ specifier, typeOnly }) => refusal(file, specifier, typeOnly)),
      )
      .filter((reason) => reason !== null);
    expect(refused).toEqual([]);
  });

  test("the environment is read in one place of each program", () => {
    // Handing the environment on to a child process reads no setting.
    const readers = shipped.filter((file) => /(?<!\.\.\.)\bprocess\s*\.\s*env\b/.test(codeOnly(file.source)));
    expect(readers.map((file) => file.inside)).toEqual(["app/run.ts", "cli/parley.ts"]);
  });

  test("failures of the HTTP API are made and read in its folder only", () => {
    const ALLOWED = new Set(["http", "schema"]);
    const others = files.filter(
      ({ layer, source }) => !ALLOWED.has(layer) && /\b(?:ApiError|validationError)\b/.test(codeOnly(source)),
    );
    expect(others.map(({ path }) => path)).toEqual([]);
  });

  test("nothing imports a test", () => {
    const refused = files
      .filter((file) => file.isTesting && !file.isTest)
      .flatMap((file) =>
        importsOf(file.source)
          .filter(({ specifier }) => specifier.startsWith("."))
          .map(({ specifier }) => targetOf(file, specifier))
          .filter((target) => known.has(target) && placeOf(target).isTest)
          .map((target) => `${file.path} imports the test ${target}`),
      );
    expect(refused).toEqual([]);
  });

  test("no file must be loaded before itself", () => {
    expect(circlesOf(shipped, { types: false })).toEqual([]);
  });

  // Two files of one folder may import each other's types. Across folders that would couple the folders.
  test("files of different folders know each other in one direction only, types included", () => {
    expect(circlesOf(shipped, { types: true }).filter(acrossFolders)).toEqual([]);
  });

  test(`no folder holds more than ${MAX_FILES_IN_FOLDER} code files`, () => {
    const code = filesBelow("packages").filter(
      (path) => /\.tsx?$/.test(path) && !/\.test\.tsx?$/.test(path) && !path.includes("/testing/"),
    );
    const counts = Map.groupBy(code, (path) => dirname(path));
    const crowded = [...counts].filter(([, inside]) => inside.length > MAX_FILES_IN_FOLDER);
    expect(crowded.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([]);
  });
});

/** Import cycles: groups of files that reach themselves by imports, each sorted by path. */
function circlesOf(
  sources: readonly SourceFile[],
  { types }: { readonly types: boolean },
): readonly (readonly string[])[] {
  const edges = new Map(
    sources.map((file) => [
      file.path,
      importsOf(file.source)
        .filter(({ specifier, typeOnly }) => specifier.startsWith(".") && (types || !typeOnly))
        .map(({ specifier }) => targetOf(file, specifier)),
    ]),
  );
  // Tarjan's strongly connected components.
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): number => {
    const at = order.size;
    let low = at;
    order.set(path, at);
    open.push(path);
    for (const target of edges.get(path) ?? []) {
      if (!edges.has(target)) continue;
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, order.get(target) ?? low);
    }
    lowest.set(path, low);
    if (low === at) {
      const circle = open.splice(open.indexOf(path));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const path of edges.keys()) if (!order.has(path)) visit(path);
  return circles;
}

function acrossFolders(circle: readonly string[]): boolean {
  return new Set(circle.map((path) => dirname(path))).size > 1;
}

describe("the pure layers", () => {
  const PURE = new Set(["call", "media", "plan"]);
  const pure = shipped.filter((file) => PURE.has(file.layer));
  const IMPURE: readonly (readonly [string, RegExp])[] = [
    ["a clock", /\bDate\b|\bperformance\b/],
    ["randomness", /\bMath\s*\.\s*random\b|\bcrypto\b/],
    ["a timer", /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask)\b/],
    ["the process", /(?<![.\w])process\s*\./],
    ["the network", /\bfetch\s*\(/],
    ["async code", /\basync\b|\bawait\b|\bPromise\b/],
  ];

  /** Compiles the resampler's WASM module once, before the first call; everything after is synchronous. */
  const LOADS_A_MODULE = new Set([`${SERVER}media/resample.ts`]);

  test.each(IMPURE)("do without %s", (_what, pattern) => {
    const impure = pure.filter(
      (file) => pattern.test(codeOnly(file.source)) && !LOADS_A_MODULE.has(file.path),
    );
    expect(impure.map((file) => file.path)).toEqual([]);
  });
});

describe("what the rules see", () => {
  test("imports of every form", () => {
    const source = [
      `import a from "./a.ts";`,
      `import type { B } from './b.ts';`,
      `import { type C, type D } from "./c.ts";`,
      `import {`,
      `  e,`,
      `  type F,`,
      `} from "./e.ts";`,
      `import "./g.ts";`,
      `export { h } from "./h.ts";`,
      `const i = await import("./i.ts");`,
      `new Worker(new URL("./j.ts", import.meta.url));`,
      `// import k from "./k.ts";`,
    ].join("\n");
    expect(importsOf(source)).toEqual([
      { specifier: "./a.ts", typeOnly: false },
      { specifier: "./b.ts", typeOnly: true },
      { specifier: "./c.ts", typeOnly: true },
      { specifier: "./e.ts", typeOnly: false },
      { specifier: "./h.ts", typeOnly: false },
      { specifier: "./g.ts", typeOnly: false },
      { specifier: "./i.ts", typeOnly: false },
      { specifier: "./j.ts", typeOnly: false },
    ]);
  });

  test("code without comments and texts", () => {
    const code = codeOnly(
      'a("Date", `x ${now(Date2)} Date`); // Date\n/* Date */ b(/Date["]/g); c = d / e / f;',
    );
    expect(code).not.toMatch(/\bDate\b/);
    expect(code).toContain("now(Date2)");
    expect(code).toContain("c = d / e / f");
  });

  test("circles, with types and without", () => {
    const file = (path: string, source: string): SourceFile => ({ path, ...placeOf(path), source });
    const a = file(`${SERVER}call/a.ts`, `import { B } from "./turn/b.ts";`);
    const b = file(`${SERVER}call/turn/b.ts`, `import { a } from "../a.ts";`);
    expect(circlesOf([a, b], { types: false })).toEqual([[a.path, b.path]]);
    const typed = [file(a.path, `import type { B } from "./turn/b.ts";`), b];
    expect(circlesOf(typed, { types: false })).toEqual([]);
    expect(circlesOf(typed, { types: true }).filter(acrossFolders)).toEqual([[a.path, b.path]]);
    const near = [file(`${SERVER}call/a.ts`, `import { B } from "./b.ts";`)];
    near.push(file(`${SERVER}call/b.ts`, `import type { a } from "./a.ts";`));
    expect(circlesOf(near, { types: true })).toHaveLength(1);
    expect(circlesOf(near, { types: true }).filter(acrossFolders)).toEqual([]);
  });

  test("imports that the table refuses", () => {
    const at = (path: string): SourceFile => ({ path: SERVER + path, ...placeOf(SERVER + path), source: "" });
    const refused = (path: string, specifier: string, typeOnly = false): string | null =>
      refusal(at(path), specifier, typeOnly);
    expect(refused("call/x.ts", "zod", true)).toMatch(/may not import zod/);
    expect(refused("call/x.ts", "node:fs")).toMatch(/may not import node:fs/);
    expect(refused("call/x.ts", "../ports/llm.ts", true)).toMatch(/may not import packages/);
    expect(refused("call/turn/x.ts", "../../plan/plan.ts", true)).toBeNull();
    expect(refused("call/turn/x.ts", "../../plan/plan.ts")).toMatch(/only types of/);
    expect(refused("providers/a/x.ts", "../json-schema/json-schema.ts", true)).toMatch(/a sibling/);
    expect(refused("providers/a/x.ts", "../../ports/llm.ts")).toBeNull();
    expect(refused("transports/webrtc/x.ts", "../rtc/peer.ts")).toBeNull();
    expect(refused("transports/rtc/x.ts", "../webrtc/webrtc-transport.ts")).toMatch(/a sibling/);
    expect(refused("store/database/x.ts", "../calls/calls.ts", true)).toMatch(/builds on it/);
    expect(refused("store/database/tables/x.ts", "../db.ts", true)).toBeNull();
    expect(refused("store/calls/x.ts", "../database/db.ts")).toBeNull();
    expect(refused("transports/websocket/x.ts", "../webrtc/webrtc-transport.ts")).toMatch(/a sibling/);
    expect(refused("lifecycle/end/x.ts", "../../jobs/definitions/finish-call.ts")).toBeNull();
    expect(refused("lifecycle/end/x.ts", "../../jobs/jobs.ts")).toMatch(/only types of/);
    expect(refused("http/x.ts", "../lifecycle/create/create-call.ts", true)).toBeNull();
    expect(refused("http/x.ts", "../lifecycle/create/create-call.ts")).toMatch(/only types of/);
    expect(refused("jobs/batches/x.ts", "../../app/metrics.ts", true)).toMatch(/may not import/);
    expect(refused("runner/x.ts", "../app/engines.ts", true)).toMatch(/may not import/);
    expect(refused("nowhere/x.ts", "zod")).toMatch(/has no row/);
    expect(refused("x.ts", "zod")).toMatch(/has no row/);
  });
});
