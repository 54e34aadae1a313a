/** Markdown, with the tables of GitHub and a title in front matter. */

import { marked, type Token, type Tokens } from "marked";
import { oneLine, type Block } from "../chunks/blocks.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { decodeText } from "./decode-text.ts";
import { blocksOfWholeHtml } from "./html.ts";
import type { Input, Parsed } from "./parsed.ts";

const FRONT_MATTER = /^---\r?\n([^]*?)\r?\n---\r?\n/;
/** Quotes and lists within each other. */
const MAX_DEPTH = 100;

export function readMarkdown({ bytes, charset }: Input): Parsed {
  const text = decodeText(bytes, charset);
  const front = FRONT_MATTER.exec(text);
  const blocks = blocksOf(marked.lexer(text.slice(front?.[0].length ?? 0)), 0);
  const first = blocks.find((block) => block.kind === "heading");
  const title = /^title:\s*["']?(.*?)["']?\s*$/m.exec(front?.[1] ?? "")?.[1];
  return { blocks, title: title === undefined || title === "" ? (first?.text ?? null) : title };
}

function blocksOf(tokens: readonly Token[], depth: number): Block[] {
  if (depth > MAX_DEPTH) throw new UnreadableDocument("damaged", "The text is nested too deeply to be read.");
  return tokens.flatMap((token) => blocksOfToken(token, depth));
}

function blocksOfToken(token: Token, depth: number): Block[] {
  const page = null;
  switch (token.type) {
    case "heading":
      return [{ kind: "heading", level: (token as Tokens.Heading).depth, text: plain(token, depth), page }];
    case "table":
      return [{ kind: "table", rows: rowsOf(token as Tokens.Table, depth), page }];
    case "list":
      return (token as Tokens.List).items.flatMap((item) => blocksOf(item.tokens, depth + 1));
    case "blockquote":
      return blocksOf((token as Tokens.Blockquote).tokens, depth + 1);
    case "html":
      return blocksOfWholeHtml(token.raw);
    case "code":
      return [{ kind: "paragraph", text: (token as Tokens.Code).text, page }];
    case "space":
    case "hr":
    case "def":
      return [];
    default: {
      const text = oneLine(plain(token, depth));
      return text === "" ? [] : [{ kind: "paragraph", text, page }];
    }
  }
}

function rowsOf({ header, rows }: Tokens.Table, depth: number): string[] {
  const line = (cells: readonly Tokens.TableCell[]): string =>
    cells.map((cell) => oneLine(cell.tokens.map((token) => plain(token, depth)).join(""))).join(" | ");
  return [line(header), ...rows.map(line)];
}

/** The text without its marks. */
function plain(token: Token, depth: number): string {
  if (depth > MAX_DEPTH) return token.raw;
  if (token.type === "br") return "\n";
  if (token.type === "html") return "";
  const inner = "tokens" in token ? token.tokens : undefined;
  if (inner !== undefined && inner.length > 0) return inner.map((part) => plain(part, depth + 1)).join("");
  return "text" in token && typeof token.text === "string" ? unescaped(token.text) : token.raw;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
