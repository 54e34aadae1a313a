/**
 * Parses template strings with mustache's own parser and turns its tokens into a small tree. Unsupported syntax
 * (partials, changed delimiters) is an error of the text and never dropped silently.
 */

import mustache from "mustache";
import { messageOf } from "../../pacing/error-text.ts";

export type TemplateNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "value"; readonly name: string }
  | {
      readonly kind: "section";
      readonly name: string;
      readonly inverted: boolean;
      readonly nodes: readonly TemplateNode[];
    };

export type ParsedTemplate = { readonly nodes: readonly TemplateNode[] } | { readonly problem: string };

/**
 * Limit of characters between the braces of one tag, comments included. Mustache searches for the end of a tag with a
 * pattern that is quadratic in a run of spaces, so a long tag is refused before parsing.
 */
export const MAX_TAG_CHARS = 2_000;

/** Limit of nested sections. Deeper nesting is a mistake, and would use too much stack. */
export const MAX_SECTION_DEPTH = 50;

/** Limit of characters of the name of a value or section. */
export const MAX_NAME_CHARS = 200;

/**
 * Limits of the cache of parsed templates: their number, and the longest text. Parsing takes 6 ms for 20,000
 * characters, and the calls of an agent fill the same texts repeatedly; at most some 20 MiB.
 */
const CACHED_TEMPLATES = 100;
const CACHED_TEMPLATE_CHARS = 100_000;

/** A parser with its own cache. */
export function openTemplateParser(): (text: string) => ParsedTemplate {
  const writer = new mustache.Writer();
  // The library's cache is unbounded, and texts come from requests.
  Object.assign(writer, { templateCache: undefined });
  const cache = new Map<string, ParsedTemplate>();
  return (text) => {
    const known = cache.get(text);
    if (known !== undefined) {
      cache.delete(text);
      cache.set(text, known);
      return known;
    }
    const parsed = parse(text, writer);
    if (text.length <= CACHED_TEMPLATE_CHARS) cache.set(text, parsed);
    const oldest = cache.size > CACHED_TEMPLATES ? cache.keys().next() : null;
    if (oldest !== null && oldest.done !== true) cache.delete(oldest.value);
    return parsed;
  };
}

function parse(text: string, writer: mustache.Writer): ParsedTemplate {
  if (!text.includes("{{")) return { nodes: text === "" ? [] : [{ kind: "text", text }] };
  const problem = problemOfTags(text);
  if (problem !== null) return { problem };
  try {
    return { nodes: nodesOf(writer.parse(text) as MustacheToken[]) };
  } catch (error) {
    // The parser's messages are short and name the section: 'Unclosed section "a" at 12'.
    return { problem: `is not a valid template: ${messageOf(error)}` };
  }
}

const TAG_OPENING = /\{\{\s*([#^/>{&=!]?)/gy;

/** Checks each tag before parsing: for unsupported syntax, and for what would make the parser slow. */
function problemOfTags(text: string): string | null {
  let depth = 0;
  for (let at = text.indexOf("{{"); at >= 0; at = text.indexOf("{{", at)) {
    TAG_OPENING.lastIndex = at;
    const opening = TAG_OPENING.exec(text);
    const sigil = opening?.[1] ?? "";
    if (sigil === ">") return `has a partial ({{>…}}) at position ${at}, which is not supported`;
    if (sigil === "=") return `changes the delimiters ({{=…=}}) at position ${at}, which is not supported`;
    const closing = sigil === "{" ? "}}}" : "}}";
    const nameAt = at + (opening?.[0].length ?? 2);
    const end = text.indexOf(closing, nameAt);
    if (end < 0) return `has a tag at position ${at} that is not closed by ${closing}`;
    if (end - at > MAX_TAG_CHARS)
      return `has a tag at position ${at} of more than ${MAX_TAG_CHARS} characters`;
    const problem = sigil === "!" ? null : problemOfName(text.slice(nameAt, end).trim());
    if (problem !== null) return `has a tag at position ${at} ${problem}`;
    depth += sigil === "#" || sigil === "^" ? 1 : sigil === "/" ? -1 : 0;
    if (depth > MAX_SECTION_DEPTH) return `has sections more than ${MAX_SECTION_DEPTH} deep`;
    at = end + closing.length;
  }
  return null;
}

function problemOfName(name: string): string | null {
  if (name === "") return "without a name";
  if (name.length > MAX_NAME_CHARS) return `whose name is longer than ${MAX_NAME_CHARS} characters`;
  if (/[{}]/.test(name)) return "with a brace in its name";
  if (name !== "." && name.split(".").includes("")) return `whose name has an empty part: ${name}`;
  return null;
}

/** `[type, value, start, end]`, and for a section also its tokens. */
type MustacheToken = readonly [
  type: string,
  value: string,
  start: number,
  end: number,
  tokens?: MustacheToken[],
];

function nodesOf(tokens: readonly MustacheToken[]): TemplateNode[] {
  const nodes: TemplateNode[] = [];
  for (const [type, value, , , inner] of tokens) {
    switch (type) {
      case "text":
        nodes.push({ kind: "text", text: value });
        break;
      case "name":
      case "&":
        nodes.push({ kind: "value", name: value });
        break;
      case "#":
      case "^":
        nodes.push({ kind: "section", name: value, inverted: type === "^", nodes: nodesOf(inner ?? []) });
        break;
      case "!":
        break;
      default:
        // Partials and delimiters were refused before. An unknown kind of token must not disappear from a text.
        throw new Error(`unknown tag {{${type}${value}}}`);
    }
  }
  return nodes;
}
