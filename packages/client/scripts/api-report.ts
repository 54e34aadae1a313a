/**
 * Writes the API report of this package: `node packages/client/scripts/api-report.ts` generates `api.md` from a build.
 * A change of the report is a change for every user of the package.
 */

import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";

const FILE = fileURLToPath(new URL("../api.md", import.meta.url));
const BUILT = fileURLToPath(new URL("../dist", import.meta.url));

const ENTRIES = ["index", "react", "rest-entry"] as const;

interface Exported {
  readonly name: string;
  readonly file: string;
}

/** @param folder of a build */
export async function apiReport(folder: string): Promise<string> {
  const root = join(folder, "types");
  const namesByFile = new Map<string, Set<string>>();
  const parts: string[] = ["# The interface of @parley/client", ""];
  for (const entry of ENTRIES) {
    const text = await readFile(join(root, `${entry}.d.ts`), "utf8");
    const exported = exportsOf(text, `${entry}.d.ts`);
    parts.push(`## ${entry === "index" ? "." : `./${entry.replace("-entry", "")}`}`, "");
    parts.push(listOf(exported.map(({ name }) => name)), "");
    const described = await namesBehind(text, root, `${entry}.d.ts`);
    if (described.length > 0)
      parts.push(`Types of the interface (docs/openapi.json): ${listOf(described)}`, "");
    for (const { name, file } of exported) {
      namesByFile.set(file, (namesByFile.get(file) ?? new Set()).add(name));
    }
  }
  for (const file of [...namesByFile.keys()].sort()) {
    const names = namesByFile.get(file) ?? new Set();
    const declared = declarationsOf(await readFile(join(root, file), "utf8"));
    const wanted = declared.filter(({ name }) => names.has(name));
    parts.push(`### ${file}`, "", "```ts", ...wanted.map(({ text }) => text), "```", "");
  }
  return parts.join("\n");
}

function listOf(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

/** The types that a file passes on as a whole: they are made from the OpenAPI document. */
async function namesBehind(text: string, root: string, own: string): Promise<string[]> {
  const names: string[] = [];
  for (const [, from = ""] of text.matchAll(/export type \* from "(\.[^"]+)"/g)) {
    const file = fileBehind(own, from);
    const passed = await readFile(join(root, file), "utf8");
    names.push(...declarationsOf(passed).map(({ name }) => name), ...(await namesBehind(passed, root, file)));
  }
  return names.sort();
}

function fileBehind(own: string, from: string): string {
  return join(dirname(own), from.replace(/\.[jt]s$/, ".d.ts"));
}

/** The names that a declaration file exports, and the file that declares each. */
function exportsOf(text: string, own: string): Exported[] {
  const passed = [...text.matchAll(/export (?:type )?\{([^}]*)\} from "(\.[^"]+)"/g)].flatMap(
    ([, names = "", from = ""]) =>
      names
        .split(",")
        .filter((name) => name.trim() !== "")
        .map((name) => ({
          name: name.trim().replace(/^type /, ""),
          file: fileBehind(own, from),
        })),
  );
  const declared = declarationsOf(text).map(({ name }) => ({ name, file: own }));
  return [...passed, ...declared].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The exported declarations of a file with their comments, without private members. */
function declarationsOf(text: string): { readonly name: string; readonly text: string }[] {
  const start =
    /^(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) (\w+)/gm;
  const found = [...text.matchAll(start)];
  return found.map((match) => {
    const rest = text.slice(match.index);
    // A declaration ends at a line that begins with its closing bracket, or at a semicolon outside all brackets.
    const end = /^(?:\}|\S.*;)$/m.exec(rest);
    const length = end === null ? rest.length : end.index + end[0].length;
    // The comment at the head of a file describes the file.
    const own =
      match.index === 0 ? rest.slice(0, length).replace(/^\/\*\*[\s\S]*?\*\/\n/, "") : rest.slice(0, length);
    return { name: match[1] ?? "", text: own.replaceAll(/^ +#private;\n/gm, "") };
  });
}

export function committedReport(): Promise<string> {
  return readFile(FILE, "utf8");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(FILE, await apiReport(BUILT));
