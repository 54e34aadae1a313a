/** Reads the repository's own source for the rule tests: files, imports, and code without its words. */

import { readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";

export const REPOSITORY = resolve(import.meta.dirname, "../../..");

const NOT_OURS = new Set(["node_modules", ".git", "dist", "coverage"]);
/** The service's database, at the root of a checkout in which it runs. */
const ROOT_DATA = "data";

/** Paths of all files below a folder, relative to the repository, with forward slashes, sorted. */
export function filesBelow(folder: string): string[] {
  const found: string[] = [];
  const waiting = [join(REPOSITORY, folder)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      if (NOT_OURS.has(entry.name)) continue;
      if (next === REPOSITORY && entry.name === ROOT_DATA) continue;
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) found.push(relative(REPOSITORY, path).split(sep).join("/"));
    }
  }
  return found.sort();
}

export function readSource(path: string): string {
  return readFileSync(join(REPOSITORY, path), "utf8");
}

export interface Import {
  /** As written, such as `../ports/llm.ts` or `node:fs`. */
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const STATIC_IMPORT = /^[ \t]*(import|export)\b(\s+type\b)?([^;"'`]*?)\bfrom\s*["']([^"']+)["']/gm;
const BARE_IMPORT = /^[ \t]*import\s*["']([^"']+)["']/gm;
const DYNAMIC_IMPORT = /\bimport\(\s*["']([^"']+)["']\s*\)/g;
/** A worker's file: loaded like an import. */
const WORKER_FILE = /\bnew URL\(\s*["'](\.[^"']+\.ts)["']\s*,\s*import\.meta\.url/g;

/** Every import and re-export of a file, worker files included. */
export function importsOf(source: string): Import[] {
  const code = blank(source, { comments: true, strings: false });
  const all: Import[] = [];
  for (const [, , type, names, specifier] of code.matchAll(STATIC_IMPORT)) {
    const listed = /^\s*\{([^}]*)\}\s*$/.exec(names ?? "")?.[1];
    const each = listed?.split(",").filter((name) => name.trim() !== "");
    const typeOnly = type !== undefined || (each?.every((name) => /^\s*type\s/.test(name)) ?? false);
    all.push({ specifier: specifier ?? "", typeOnly });
  }
  for (const pattern of [BARE_IMPORT, DYNAMIC_IMPORT, WORKER_FILE]) {
    for (const [, specifier] of code.matchAll(pattern))
      all.push({ specifier: specifier ?? "", typeOnly: false });
  }
  return all;
}

/** The package of an import: `node:` for all modules of the runtime, the first or the first two parts of others. */
export function packageOf(specifier: string): string {
  if (specifier.startsWith("node:")) return "node:";
  const [scope = "", name = ""] = specifier.split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}

/** The code with comments, texts and patterns replaced by blanks of the same length; line breaks stay. */
export function codeOnly(source: string): string {
  return blank(source, { comments: true, strings: true });
}

/** Line comments, block comments, quoted texts, template texts, and regular expressions where one may stand. */
const WORDS =
  /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(`(?:[^`\\]|\\[\s\S])*`)|(?<=[(,=:[!&|?{};+\n]\s*|return\s+)(\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*)/g;

function blank(source: string, what: { readonly comments: boolean; readonly strings: boolean }): string {
  return source.replace(
    WORDS,
    (whole, comment: string | undefined, _quoted, template: string | undefined) => {
      if (comment !== undefined) return what.comments ? blanks(whole) : whole;
      if (!what.strings) return whole;
      return template === undefined ? blanks(whole) : blankTemplate(whole);
    },
  );
}

function blanks(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

/** Preserves the code inside `${…}`. */
function blankTemplate(text: string): string {
  let kept = "";
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (depth === 0 && char === "$" && text[at + 1] === "{") {
      depth = 1;
      kept += "  ";
      at += 1;
      continue;
    }
    if (depth > 0) depth += char === "{" ? 1 : char === "}" ? -1 : 0;
    kept += depth > 0 || char === "\n" ? char : " ";
  }
  return kept;
}
