/** What the packages that run in browsers may import. The layers of the server are in `import-rules.test.ts`. */

import { dirname, join, normalize } from "node:path/posix";
import { describe, expect, test } from "vitest";
import { filesBelow, importsOf, packageOf, readSource } from "./source-text.ts";

const SCHEMA_PACKAGE = "@parley/schema";

describe("the client", () => {
  // The browser runs the package's own code only: of the interface it imports the types.
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
  // A separate page beside the service, which it uses only through its interface: its routes, by the client.
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

  // Of the schema only types: its code would load every rule of the interface in the browser. One file is allowed.
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
