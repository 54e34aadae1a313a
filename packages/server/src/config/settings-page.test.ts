/** `docs/settings.md` lists exactly the variables that the service reads, and the documents use no old name. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { Environment } from "./environment.ts";
import { RENAMED_SETTINGS } from "./renamed-settings.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

interface Row {
  readonly name: string;
  readonly fallback: string;
  readonly unit: string;
}

function rowsOf(page: string): Row[] {
  const lines = page.split("\n").filter((line) => line.startsWith("| `"));
  return lines.map((line) => {
    const [name = "", fallback = "", unit = ""] = line
      .split("|")
      .slice(1)
      .map((cell) => cell.trim());
    return { name: name.replaceAll("`", ""), fallback, unit };
  });
}

/** The spelling of the page; an unset value may be followed by its effect. */
function defaultOf(name: string): string {
  const { shape } = Environment;
  const value: unknown = shape[name as keyof typeof shape].parse(undefined);
  if (value === undefined) return "unset";
  return Array.isArray(value) ? "none" : `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

/** The unit that the end of a name gives; null: none. */
function unitOf(name: string): string | null {
  return name.endsWith("_MS") ? "ms" : name.endsWith("_DAYS") ? "days" : null;
}

const rows = rowsOf(readFileSync(join(ROOT, "docs/settings.md"), "utf8"));

describe("docs/settings.md", () => {
  it("lists each variable once", () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(Environment.shape).toSorted());
  });

  it.each(rows)("has the default and the unit of $name", ({ name, fallback, unit }) => {
    const stated = fallback.startsWith("unset:") ? "unset" : fallback;
    expect(stated).toBe(defaultOf(name));
    expect(unit).toBe(unitOf(name) ?? unit);
  });
});

describe("the documents", () => {
  const pages = ["README.md", ...readdirSync(join(ROOT, "docs")).map((name) => `docs/${name}`)];

  it.each(pages.filter((path) => path.endsWith(".md")))("%s uses no old name of a setting", (path) => {
    const words = new Set(readFileSync(join(ROOT, path), "utf8").match(/[A-Z][A-Z0-9_]+/g));
    expect(Object.keys(RENAMED_SETTINGS).filter((name) => words.has(name))).toEqual([]);
  });
});
