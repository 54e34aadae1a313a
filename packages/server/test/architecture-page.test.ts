/** The table of layers in ARCHITECTURE.md states what `import-table.ts` allows. */

import { describe, expect, test } from "vitest";
import { type Rule, RULES } from "./import-table.ts";
import { readSource } from "./source-text.ts";

const ALL_BELOW = "all of the below";
const ABOVE_APP = new Set(["schema", "app", "cli", "main"]);

interface Row {
  readonly folders: readonly string[];
  readonly typesOf: readonly string[];
}

/** "All of the below" may be followed by exceptions. */
function namesIn(cell: string): string[] {
  const named = [...cell.matchAll(/`([\w/]+)`/g)].map(([, name = ""]) => name);
  if (!cell.startsWith(ALL_BELOW)) return named;
  return Object.keys(RULES).filter((name) => !ABOVE_APP.has(name) && !named.includes(name));
}

const [, section = ""] = /^## Layers of the server$([^]*?)^## /m.exec(readSource("ARCHITECTURE.md")) ?? [];

const rows = new Map(
  section
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .flatMap(([, , folder = "", , imports = "", types = ""]): [string, Row][] => {
      const name = /^`(\w+)(?:\/|\.ts)`$/.exec(folder)?.[1];
      return name === undefined ? [] : [[name, { folders: namesIn(imports), typesOf: namesIn(types) }]];
    }),
);

function sorted({ folders, typesOf = [] }: Pick<Rule, "folders" | "typesOf">): object {
  return { folders: folders.toSorted(), typesOf: typesOf.toSorted() };
}

describe("the layers of ARCHITECTURE.md", () => {
  const ofServer = Object.entries(RULES).filter(([name]) => name !== "schema");

  test("are all folders of the server", () => {
    expect([...rows.keys()].toSorted()).toEqual(ofServer.map(([name]) => name).toSorted());
  });

  test.each(ofServer)("state what %s may import", (name, rule) => {
    expect(sorted(rows.get(name) ?? { folders: [], typesOf: [] })).toEqual(sorted(rule));
  });
});
