/**
 * Chunks of a document: consecutive blocks below the same headings, up to a size. A chunk never crosses a heading, so
 * that its heading path is true for all of its text. A heading without any text below it becomes a chunk of its own.
 */

import type { Chunk } from "../../../ports/corpora/document-reader.ts";
import { oneLine, type Block, type Heading, type Table } from "./blocks.ts";
import { splitText, type Part } from "./split-text.ts";
import { estimateTokens } from "./tokens.ts";

export interface ChunkSizes {
  /** Paragraphs are joined up to this, and longer ones are divided. */
  readonly maxTokens: number;
  /** A table up to this stays whole. */
  readonly maxTableTokens: number;
}

/**
 * Embedding models commonly read 512 tokens, of which the headings need some. A spoken answer needs one or two
 * paragraphs, which are 100 to 300 tokens.
 */
export const CHUNK_SIZES: ChunkSizes = { maxTokens: 320, maxTableTokens: 1_000 };

/** A longer heading is a paragraph in large letters. */
const MAX_HEADING_CHARS = 200;
/**
 * Deeper headings are taken for ones of this level, as in HTML. Each chunk repeats its path: sizes of letters in a PDF
 * could make a thousand levels.
 */
const MAX_LEVEL = 6;
/** White space has no tokens, so a longer run is shortened: otherwise a chunk could have megabytes of it. */
const MAX_SPACES = 64;

interface OpenHeading {
  readonly heading: Heading;
  /** A chunk has it in its path. */
  isUsed: boolean;
}

class ChunkMaker {
  readonly chunks: Chunk[] = [];
  readonly #sizes: ChunkSizes;
  readonly #language: string | null;
  #path: OpenHeading[] = [];
  #texts: string[] = [];
  #tokens = 0;
  #page: number | null = null;

  constructor(sizes: ChunkSizes, language: string | null) {
    this.#sizes = sizes;
    this.#language = language;
  }

  open(heading: Heading): void {
    this.flush();
    this.#closeDownTo(heading.level);
    this.#path.push({ heading, isUsed: false });
  }

  add(parts: readonly Part[], page: number | null): void {
    for (const { text, tokens } of parts) {
      if (this.#texts.length > 0 && this.#tokens + tokens > this.#sizes.maxTokens) this.flush();
      if (this.#texts.length === 0) this.#page = page;
      this.#texts.push(text);
      this.#tokens += tokens;
    }
  }

  addText(text: string, page: number | null): void {
    this.add(splitText(text, this.#sizes.maxTokens, this.#language), page);
  }

  addTable({ rows, page }: Table): void {
    const text = rows.join("\n");
    const tokens = estimateTokens(text);
    if (tokens === 0) return;
    if (tokens <= this.#sizes.maxTokens) return this.add([{ text, tokens }], page);
    this.flush();
    for (const part of tableParts(rows, this.#sizes, this.#language)) this.#push(part, page);
  }

  finish(): void {
    this.flush();
    this.#closeDownTo(0);
  }

  flush(): void {
    const text = this.#texts.join("\n\n");
    const page = this.#page;
    this.#texts = [];
    this.#tokens = 0;
    this.#page = null;
    if (text !== "") this.#push(text, page);
  }

  #push(text: string, page: number | null): void {
    for (const open of this.#path) open.isUsed = true;
    const headingPath = this.#path.map(({ heading }) => heading.text);
    this.chunks.push({ headingPath, page, text, tokens: estimateTokens(text) });
  }

  /** Ends the headings of this level and below. */
  #closeDownTo(level: number): void {
    while ((this.#path.at(-1)?.heading.level ?? -1) >= level) {
      const last = this.#path.pop();
      if (last !== undefined && !last.isUsed) this.#push(last.heading.text, last.heading.page);
    }
  }
}

/** In the order of the document. The chunks contain every visible character of the blocks. */
export function makeChunks(
  blocks: readonly Block[],
  language: string | null,
  sizes: ChunkSizes = CHUNK_SIZES,
): Chunk[] {
  const maker = new ChunkMaker(sizes, language);
  for (const block of blocks) {
    if (block.kind === "table") maker.addTable(block);
    else if (block.kind === "paragraph") maker.addText(squeezed(block.text.trim()), block.page);
    else {
      const text = oneLine(block.text);
      if (text === "") continue;
      if (text.length > MAX_HEADING_CHARS) maker.addText(text, block.page);
      else maker.open({ ...block, level: Math.min(Math.max(1, block.level), MAX_LEVEL), text });
    }
  }
  maker.finish();
  return maker.chunks;
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/gu, (spaces) => spaces.slice(0, MAX_SPACES));
}

/** The rows of a table that is too long, in parts; each begins with the first row, unless that row is very long. */
function tableParts(rows: readonly string[], sizes: ChunkSizes, language: string | null): string[] {
  const [head = "", ...body] = rows;
  const whole = rows.join("\n");
  if (estimateTokens(whole) <= sizes.maxTableTokens) return [whole];
  const headTokens = estimateTokens(head);
  const isRepeated = headTokens * 4 <= sizes.maxTableTokens && body.length > 0;
  const room = sizes.maxTableTokens - (isRepeated ? headTokens : 0);
  const parts: string[] = [];
  let lines: string[] = [];
  let tokens = 0;
  const finish = (): void => {
    if (lines.length > 0) parts.push((isRepeated ? [head, ...lines] : lines).join("\n"));
    lines = [];
    tokens = 0;
  };
  for (const row of isRepeated ? body : rows) {
    for (const part of splitText(row, room, language)) {
      if (tokens + part.tokens > room) finish();
      lines.push(part.text);
      tokens += part.tokens;
    }
  }
  finish();
  return parts;
}
