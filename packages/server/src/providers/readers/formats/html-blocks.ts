/** The blocks of an HTML element: headings, paragraphs, entries of lists, tables, preformatted text. */

import { oneLine, type Block } from "../chunks/blocks.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { isElement, type DomElement, type DomNode } from "./dom.ts";

/** Nothing of these is text for a reader. */
const SKIPPED: ReadonlySet<string> = new Set([
  "AUDIO",
  "BUTTON",
  "CANVAS",
  "DATALIST",
  "HEAD",
  "IFRAME",
  "INPUT",
  "NOSCRIPT",
  "OBJECT",
  "SCRIPT",
  "SELECT",
  "STYLE",
  "SVG",
  "TEMPLATE",
  "TEXTAREA",
  "VIDEO",
]);
/** Elements within a line; all others begin a new paragraph. */
const INLINE: ReadonlySet<string> = new Set(
  (
    "A ABBR ACRONYM B BDI BDO BIG BR CITE CODE DATA DEL DFN EM FONT I IMG INS KBD LABEL MARK OUTPUT Q RP RT RUBY S " +
    "SAMP SLOT SMALL SPAN STRIKE STRONG SUB SUP TIME TT U VAR WBR"
  ).split(" "),
);
const HEADING = /^H([1-6])$/;
/** Pages of people have at most 60 levels; deeper ones would exhaust the stack. */
const MAX_DEPTH = 400;
/** A table with a longer cell arranges a page and is no table. */
const MAX_CELL_CHARS = 1_500;

class BlockCollector {
  readonly blocks: Block[] = [];
  #line = "";
  readonly #page: number | null;

  constructor(page: number | null) {
    this.#page = page;
  }

  visit(node: DomNode, depth: number): void {
    if (depth > MAX_DEPTH)
      throw new UnreadableDocument("damaged", "The page is nested too deeply to be read.");
    if (node.nodeType === 3) {
      this.#line += node.textContent ?? "";
      return;
    }
    if (!isElement(node)) return;
    const name = node.nodeName.toUpperCase();
    if (SKIPPED.has(name)) return;
    if (name === "BR" || name === "IMG" || name === "WBR") this.#line += name === "BR" ? "\n" : "";
    else if (INLINE.has(name)) this.#visitChildren(node, depth);
    else this.#visitBlock(node, name, depth);
  }

  #visitBlock(element: DomElement, name: string, depth: number): void {
    this.flush();
    const level = HEADING.exec(name)?.[1];
    if (level !== undefined) {
      const text = oneLine(element.textContent ?? "");
      if (text !== "") this.blocks.push({ kind: "heading", level: Number(level), text, page: this.#page });
      return;
    }
    if (name === "PRE") {
      this.#paragraph((element.textContent ?? "").replaceAll(/\n{3,}/g, "\n\n"));
      return;
    }
    const rows = name === "TABLE" ? rowsOf(element) : null;
    if (rows !== null) {
      if (rows.length > 0) this.blocks.push({ kind: "table", rows, page: this.#page });
      return;
    }
    this.#visitChildren(element, depth);
    this.flush();
  }

  #visitChildren(element: DomElement, depth: number): void {
    for (const child of element.childNodes) this.visit(child, depth + 1);
  }

  #paragraph(text: string): void {
    if (text.trim() !== "") this.blocks.push({ kind: "paragraph", text: text.trim(), page: this.#page });
  }

  flush(): void {
    this.#paragraph(oneLine(this.#line));
    this.#line = "";
  }
}

/** Null: the table arranges other content, such as tables or long texts. */
function rowsOf(table: DomElement): string[] | null {
  if (table.querySelector("table,h1,h2,h3,ul,ol,pre") !== null) return null;
  const rows: string[] = [];
  for (const row of table.querySelectorAll("tr")) {
    const cells: string[] = [];
    for (const cell of row.childNodes) {
      if (!isElement(cell) || !/^T[DH]$/i.test(cell.nodeName)) continue;
      const text = oneLine(cell.textContent ?? "");
      if (text.length > MAX_CELL_CHARS) return null;
      cells.push(text);
    }
    if (cells.some((cell) => cell !== "")) rows.push(cells.join(" | "));
  }
  const caption = oneLine(table.querySelector("caption")?.textContent ?? "");
  return caption === "" ? rows : [caption, ...rows];
}

/** @throws UnreadableDocument where the element is nested too deeply */
export function blocksOfHtml(element: DomElement, page: number | null = null): Block[] {
  const collector = new BlockCollector(page);
  collector.visit(element, 0);
  collector.flush();
  return collector.blocks;
}
