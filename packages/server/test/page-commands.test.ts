/** The commands of the README and the pages: scripts, files and settings that they name exist. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import { blankOf, commandsOf, valueFor } from "./page-commands.ts";
import { filesBelow, readSource, REPOSITORY } from "./source-text.ts";

const PAGES = ["README.md", "CONTRIBUTING.md", "packages/client/README.md", ...filesBelow("docs")].filter(
  (path) => path.endsWith(".md"),
);
const ROOT_PACKAGE = JSON.parse(readSource("package.json")) as { readonly scripts: object };

const commands = PAGES.flatMap((page) =>
  commandsOf(readSource(page)).map((command) => ({ ...command, where: `${page}:${String(command.line)}` })),
);

describe("the commands of a page", () => {
  const page = [
    "```sh",
    "export A=…   # the agentId of the answer",
    "",
    "curl x -d '{",
    '  "a": 1',
    "}'   # it's",
    "ls",
    "```",
    "```js",
    "no",
    "```",
  ];

  test("are read with their lines, strings over several lines and comments", () => {
    const found = commandsOf(page.join("\n"));
    expect(found).toEqual([
      { line: 2, text: "export A=…   # the agentId of the answer" },
      { line: 4, text: "curl x -d '{\n  \"a\": 1\n}'   # it's" },
      { line: 7, text: "ls" },
    ]);
    expect(found.map(blankOf)).toEqual([{ variable: "A", comment: "the agentId of the answer" }, null, null]);
  });

  test("have values from the last answer, also from a list", () => {
    const blank = { variable: "CALL", comment: "its callId" };
    expect(valueFor(blank, { next: null, results: [{ callId: "c1" }, { callId: "c2" }] })).toBe("c1");
    expect(() => valueFor(blank, { results: [] })).toThrow("has no callId");
    expect(() => valueFor({ variable: "A", comment: "look" }, {})).toThrow("names no field");
  });
});

describe("what the pages tell readers to run", () => {
  test("are scripts of the repository", () => {
    expect(commands.length).toBeGreaterThan(30);
    const unknown = commands.flatMap(({ where, text }) =>
      [...text.matchAll(/\bnpm run ([\w:-]+)/g)]
        .filter(([, script = ""]) => !(script in ROOT_PACKAGE.scripts))
        .map(([run]) => `${where}: ${run}`),
    );
    expect(unknown).toEqual([]);
  });

  test("names files that exist", () => {
    const missing = commands.flatMap(({ where, text }) =>
      [...text.matchAll(/(?:^|\s)((?:fixtures|packages|docs)\/[\w./-]+)/g)]
        .filter(([, file = ""]) => !existsSync(join(REPOSITORY, file)))
        .map(([, file = ""]) => `${where}: ${file}`),
    );
    expect(missing).toEqual([]);
  });

  test("starts the service with settings that it accepts", () => {
    const starts = commands.filter(({ text }) => /^(?:[A-Z_]+=\S+ )+npm start$/.test(text));
    expect(starts.length).toBeGreaterThan(0);
    const refused = starts.flatMap(({ where, text }) => {
      const settings = [...text.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name = "", value = ""]) => [
        name,
        value.replaceAll(/^'|'$/g, ""),
      ]);
      try {
        loadConfig({ DATA_DIR: "data", ...(Object.fromEntries(settings) as Record<string, string>) });
        return [];
      } catch (error) {
        return [`${where}: ${String(error)}`];
      }
    });
    expect(refused).toEqual([]);
  });
});
