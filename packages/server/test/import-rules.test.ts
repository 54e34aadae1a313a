/**
 * The floors of ARCHITECTURE.md: imports go down only and never sideways, type-only imports included. What the table
 * does not allow is refused, so a new folder or package needs a line here.
 */

import { dirname, join, normalize } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { codeOnly, filesBelow, importsOf, readSource } from "./source-text.ts";

const SERVER = "packages/server/src/";
const SCHEMA = "packages/schema/src/";

interface Floor {
  /** Own floors, besides files of the same part. */
  readonly floors: readonly string[];
  /** Packages; `node:` stands for all modules of the runtime. */
  readonly packages: readonly string[];
  /** True: files of one folder of this floor may not import those of another. */
  readonly parted?: boolean;
  /** Floors of which only types may be imported. */
  readonly typesOf?: readonly string[];
}

const SCHEMA_PACKAGE = "@parley/schema";

const FLOORS: Readonly<Record<string, Floor>> = {
  schema: { floors: [], packages: ["zod"] },
  media: { floors: [], packages: ["speex-resampler"] },
  call: { floors: [], packages: [SCHEMA_PACKAGE] },
  ports: { floors: ["media"], packages: [SCHEMA_PACKAGE], typesOf: ["media"] },
  net: { floors: [], packages: ["undici", "ipaddr.js", "node:"] },
  providers: {
    floors: ["ports", "media", "net"],
    packages: [
      SCHEMA_PACKAGE,
      "node:",
      "@ai-sdk/openai-compatible",
      "@echogarden/espeak-ng-emscripten",
      "@modelcontextprotocol/sdk",
      "@modelcontextprotocol/sdk",
      "@opentelemetry/api",
      "@opentelemetry/exporter-trace-otlp-http",
      "@opentelemetry/resources",
      "@opentelemetry/sdk-trace",
      "ai",
      "ajv",
      "aws4fetch",
      "mustache",
      "onnxruntime-node",
      "soundswallower",
      "yaml",
      "zod",
    ],
    parted: true,
  },
  transports: {
    floors: ["ports", "media", "net"],
    packages: [SCHEMA_PACKAGE, "node:", "libopus-wasm", "werift", "ws"],
    parted: true,
  },
  store: {
    floors: [],
    packages: [SCHEMA_PACKAGE, "node:", "kysely", "pg", "pg-protocol", "@electric-sql/pglite"],
  },
  runner: { floors: ["call", "ports", "media"], packages: [SCHEMA_PACKAGE, "node:"] },
  http: {
    floors: ["store", "ports"],
    packages: [SCHEMA_PACKAGE, "node:", "fastify", "@fastify/multipart", "ws", "pino", "prom-client"],
  },
  // On the roof as well: a second program beside the service, which nothing else needs.
  cli: { floors: ["roof", "store"], packages: [SCHEMA_PACKAGE, "node:"] },
  jobs: { floors: ["store", "ports", "net"], packages: [SCHEMA_PACKAGE, "node:", "pg-boss"] },
};

interface SourceFile {
  readonly path: string;
  readonly floor: string;
  /** The floor, or floor and folder where folders of a floor may not meet. */
  readonly part: string;
  readonly isTest: boolean;
  readonly isTesting: boolean;
  readonly source: string;
}

const files: readonly SourceFile[] = [...filesBelow(SCHEMA), ...filesBelow(SERVER)]
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, ...placeOf(path), source: readSource(path) }));

function placeOf(path: string): Omit<SourceFile, "path" | "source"> {
  const inside = path.startsWith(SCHEMA) ? `schema/${path.slice(SCHEMA.length)}` : path.slice(SERVER.length);
  const [first = "", second = ""] = inside.split("/");
  const floor = inside.includes("/") ? first : "roof";
  const parted = FLOORS[floor]?.parted === true && inside.split("/").length > 2;
  return {
    floor,
    part: parted ? `${first}/${second}` : floor,
    isTest: path.endsWith(".test.ts"),
    isTesting: path.includes("/testing/"),
  };
}

const known = new Set(files.map((file) => file.path));
const shipped = files.filter((file) => !file.isTest && !file.isTesting);

function targetOf(file: SourceFile, specifier: string): string {
  return normalize(join(dirname(file.path), specifier));
}

function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return "node:";
  const [scope = "", name = ""] = specifier.split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}

/** Why a file of a floor may not import this; null when it may. */
function refusal(file: SourceFile, specifier: string, typeOnly: boolean): string | null {
  const floor = FLOORS[file.floor];
  if (floor === undefined) return `${file.path}: the folder "${file.floor}" is on no floor`;
  if (!specifier.startsWith(".")) {
    return floor.packages.includes(packageOf(specifier)) ? null : `${file.path} may not import ${specifier}`;
  }
  const target = targetOf(file, specifier);
  if (!known.has(target)) return `${file.path} imports ${specifier}, which is no source file of its package`;
  const place = placeOf(target);
  if (place.isTest || place.isTesting)
    return `${file.path} is shipped and imports ${target}, which is for tests`;
  if (place.part === file.part) return null;
  // A file right in a parted floor serves all its folders.
  if (place.floor === file.floor && place.part === place.floor) return null;
  if (!floor.floors.includes(place.floor)) return `${file.path} may not import ${target}`;
  return floor.typesOf?.includes(place.floor) === true && !typeOnly
    ? `${file.path} may import only types of ${target}`
    : null;
}

describe("floors", () => {
  test("every folder with source stands on a floor", () => {
    const floors = new Set(shipped.map((file) => file.floor));
    expect([...floors].filter((floor) => floor !== "roof" && FLOORS[floor] === undefined)).toEqual([]);
  });

  test("imports go down only, never sideways, and packages are those of the floor", () => {
    const refused = shipped
      .filter((file) => file.floor !== "roof")
      .flatMap((file) =>
        importsOf(file.source).map(({ specifier, typeOnly }) => refusal(file, specifier, typeOnly)),
      )
      .filter((reason) => reason !== null);
    expect(refused).toEqual([]);
  });

  test("nobody imports main.ts or the command line, and the environment is read on the roof alone", () => {
    const above = shipped.flatMap((file) =>
      importsOf(file.source)
        .filter(({ specifier }) => specifier.startsWith("."))
        .map(({ specifier }) => targetOf(file, specifier))
        .filter(
          (target) =>
            target === `${SERVER}main.ts` || (target.startsWith(`${SERVER}cli/`) && file.floor !== "cli"),
        )
        .map((target) => `${file.path} imports ${target}`),
    );
    expect(above).toEqual([]);
    // Handing the environment on to a child process reads no setting.
    const readers = shipped.filter((file) => /(?<!\.\.\.)\bprocess\s*\.\s*env\b/.test(codeOnly(file.source)));
    const elsewhere = readers.filter(
      (file) => file.floor !== "roof" && file.path !== `${SERVER}cli/parley.ts`,
    );
    expect(elsewhere.map((file) => file.path)).toEqual([]);
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

  // Two files may know each other's types; what must not happen is that one needs the other to be loaded first.
  test("no file needs itself to be loaded", () => {
    expect(cyclesOf(shipped)).toEqual([]);
  });
});

/** Each cycle once, as a path that ends where it began. */
function cyclesOf(sources: readonly SourceFile[]): string[] {
  const edges = new Map(
    sources.map((file) => [
      file.path,
      importsOf(file.source)
        .filter(({ specifier, typeOnly }) => specifier.startsWith(".") && !typeOnly)
        .map(({ specifier }) => targetOf(file, specifier)),
    ]),
  );
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      cycles.push([...trail.slice(at), path].join(" → "));
      return;
    }
    if (done.has(path)) return;
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}

describe("the client", () => {
  // What runs in a browser is its own code alone: of the interface it knows the types.
  // The hooks are for pages that have React anyway.
  const isHookOf = (path: string, specifier: string): boolean =>
    path === "packages/client/src/react.ts" && specifier === "react";

  test("loads nothing but its own files", () => {
    const refused = filesBelow("packages/client/src/")
      .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
      .flatMap((path) =>
        importsOf(readSource(path))
          .filter(
            ({ specifier, typeOnly }) =>
              !specifier.startsWith(".") && !typeOnly && !isHookOf(path, specifier),
          )
          .map(({ specifier }) => `${path} imports ${specifier}`),
      );
    expect(refused).toEqual([]);
  });
});

describe("the console", () => {
  // A page of its own beside the service, which it knows by its interface alone: its routes, by the client.
  const CONSOLE = "packages/console/src/";
  const PACKAGES = new Set([
    "@fontsource-variable/instrument-sans",
    "@parley/client",
    "@tanstack/react-query",
    "get-nonce",
    "lucide-react",
    "papaparse",
    "radix-ui",
    "react",
    "react-dom",
    "react-router",
    "uplot",
    "virtual:field-notes",
    "wavesurfer.js",
  ]);

  // Of the schema whole only the types: it would bring every rule of the interface to the browser. One file of it may be had.
  test("imports its own files, the client, types or single files of the schema, and its libraries", () => {
    const refused = filesBelow(CONSOLE)
      .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
      .flatMap((path) =>
        importsOf(readSource(path))
          .filter(({ specifier, typeOnly }) => {
            if (specifier.startsWith("."))
              return !normalize(join(dirname(path), specifier)).startsWith(CONSOLE);
            const named = packageOf(specifier);
            return !PACKAGES.has(named) && !(named === SCHEMA_PACKAGE && (typeOnly || specifier !== named));
          })
          .map(({ specifier }) => `${path} imports ${specifier}`),
      );
    expect(refused).toEqual([]);
  });

  test("has a design system that knows no screen, and screens that do not know each other", () => {
    const SHARED = /^(?:screens\/[^/]+\.tsx?|ui\/.*|data\/.*)$/;
    const refused = filesBelow(CONSOLE)
      .filter((path) => /\/(?:ui|screens\/\w+)\//.test(path) && /(?<!\.test)\.tsx?$/.test(path))
      .flatMap((path) => {
        const own = /^(?:ui|screens\/\w+)\//.exec(path.slice(CONSOLE.length))?.[0] ?? "";
        return importsOf(readSource(path))
          .filter(({ specifier }) => specifier.startsWith("."))
          .map(({ specifier }) => normalize(join(dirname(path), specifier)).slice(CONSOLE.length))
          .filter(
            (target) =>
              !target.startsWith(own) &&
              !(SHARED.test(target) && !(own === "ui/" && target.startsWith("screens/"))),
          )
          .map((target) => `${path} imports ${target}`);
      });
    expect(refused).toEqual([]);
  });
});

describe("the pure floors", () => {
  const pure = shipped.filter((file) => file.floor === "call" || file.floor === "media");
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

  test("a cycle", () => {
    const file = (path: string, source: string): SourceFile => ({ path, ...placeOf(path), source });
    const a = file(`${SERVER}call/a.ts`, `import { B } from "./b.ts";`);
    const b = file(`${SERVER}call/b.ts`, `import { a } from "./a.ts";`);
    expect(cyclesOf([a, b])).toEqual([`${SERVER}call/a.ts → ${SERVER}call/b.ts → ${SERVER}call/a.ts`]);
    expect(cyclesOf([file(a.path, `import type { B } from "./b.ts";`), b])).toEqual([]);
  });

  test("steps up and sideways", () => {
    const at = (path: string): SourceFile => ({ path: SERVER + path, ...placeOf(SERVER + path), source: "" });
    expect(refusal(at("call/x.ts"), "zod", true)).toMatch(/may not import zod/);
    expect(refusal(at("call/x.ts"), "node:fs", false)).toMatch(/may not import node:fs/);
    expect(refusal(at("call/x.ts"), "../ports/llm.ts", true)).toMatch(/may not import packages/);
    expect(refusal(at("providers/a/x.ts"), "../json-schema/json-schema.ts", true)).toMatch(
      /may not import packages/,
    );
    expect(refusal(at("providers/a/x.ts"), "../../ports/llm.ts", false)).toBeNull();
    expect(refusal(at("runner/x.ts"), "../call/plan.ts", true)).toBeNull();
    expect(refusal(at("runner/x.ts"), "../providers/json-schema/json-schema.ts", true)).toMatch(
      /may not import/,
    );
    expect(refusal(at("http/x.ts"), "../runner/create-call.ts", true)).toMatch(/may not import/);
    expect(refusal(at("nowhere/x.ts"), "zod", false)).toMatch(/on no floor/);
  });
});
