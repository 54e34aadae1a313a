/** PDF through pdf.js: lines of text by their position, paragraphs by the space between lines, headings by their size. */

import { getDocumentProxy } from "unpdf";
import { oneLine, type Block } from "../chunks/blocks.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { dateOf } from "./html.ts";
import { damaged, encrypted, type Input, type Parsed } from "./parsed.ts";

const MAX_PAGES = 2_000;
/** Larger letters than those of most of the text, by this factor, are a heading. */
const HEADING_FACTOR = 1.2;
const MAX_HEADING_CHARS = 160;
/** A distance between lines beyond this many heights of letters begins a paragraph. */
const PARAGRAPH_FACTOR = 1.8;

interface Line {
  readonly text: string;
  readonly height: number;
  readonly y: number;
  readonly page: number;
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

export async function readPdf({ bytes }: Input): Promise<Parsed> {
  let pdf: Pdf;
  try {
    // A copy, because pdf.js takes the buffer over.
    pdf = await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException") throw encrypted();
    throw damaged("it is not a complete PDF");
  }
  if (pdf.numPages > MAX_PAGES)
    throw new UnreadableDocument("too_many_pages", `The file has more than ${String(MAX_PAGES)} pages.`);
  const lines: Line[] = [];
  let broken = 0;
  for (let page = 1; page <= pdf.numPages; page += 1) {
    try {
      lines.push(...(await linesOfPage(pdf, page)));
    } catch {
      // The other pages can be read; a file without any readable page is refused below.
      broken += 1;
    }
  }
  if (lines.length === 0 && broken > 0) throw damaged("none of its pages can be read");
  return { blocks: blocksOf(lines), ...(await propertiesOf(pdf)) };
}

async function linesOfPage(pdf: Pdf, number: number): Promise<Line[]> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  const lines: Line[] = [];
  let text = "";
  let height = 0;
  let y: number | null = null;
  const finish = (): void => {
    if (text.trim() !== "") lines.push({ text: oneLine(text), height, y: y ?? 0, page: number });
    text = "";
    height = 0;
    y = null;
  };
  for (const item of items) {
    if (!("str" in item)) continue;
    const at = numberOf(item.transform, 5);
    if (y !== null && Math.abs(at - y) > Math.max(height, 1) / 2) finish();
    text += item.str;
    if (item.str.trim() !== "") {
      height = Math.max(height, item.height);
      y ??= at;
    }
    if (item.hasEOL) finish();
  }
  finish();
  page.cleanup();
  return lines;
}

function numberOf(list: readonly unknown[], index: number): number {
  const value = list[index];
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

function blocksOf(lines: readonly Line[]): Block[] {
  const usual = usualHeight(lines);
  const isHeading = ({ text, height }: Line): boolean =>
    usual > 0 && height >= usual * HEADING_FACTOR && text.length <= MAX_HEADING_CHARS && /\p{L}/u.test(text);
  // The largest letters are the first level.
  const sizes = [...new Set(lines.filter(isHeading).map(({ height }) => Math.round(height)))].sort(
    (a, b) => b - a,
  );
  const blocks: Block[] = [];
  let paragraph: Line[] = [];
  const finish = (): void => {
    const [first] = paragraph;
    if (first !== undefined) {
      blocks.push({ kind: "paragraph", text: joined(paragraph.map(({ text }) => text)), page: first.page });
    }
    paragraph = [];
  };
  for (const line of lines) {
    if (isHeading(line)) {
      finish();
      const level = sizes.indexOf(Math.round(line.height)) + 1;
      blocks.push({ kind: "heading", level, text: line.text, page: line.page });
      continue;
    }
    const last = paragraph.at(-1);
    if (last !== undefined && beginsParagraph(last, line)) finish();
    paragraph.push(line);
  }
  finish();
  return blocks;
}

function beginsParagraph(last: Line, line: Line): boolean {
  if (last.page !== line.page) return /[.!?:]$/.test(last.text);
  const distance = Math.abs(last.y - line.y);
  return distance > Math.max(last.height, line.height, 1) * PARAGRAPH_FACTOR;
}

/** A word that is divided at the end of a line becomes one again. */
function joined(lines: readonly string[]): string {
  return lines.reduce((text, line) =>
    /\p{L}-$/u.test(text) && /^\p{Ll}/u.test(line) ? text.slice(0, -1) + line : `${text} ${line}`,
  );
}

/** The height that most letters have. */
function usualHeight(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { text, height } of lines) {
    const rounded = Math.round(height * 2) / 2;
    letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
  }
  let usual = 0;
  for (const [height, count] of letters) if (count > (letters.get(usual) ?? 0)) usual = height;
  return usual;
}

async function propertiesOf(pdf: Pdf): Promise<Pick<Parsed, "title" | "published" | "language">> {
  try {
    const { info } = await pdf.getMetadata();
    const {
      Title: title,
      Language: language,
      CreationDate: created,
    } = info as Readonly<Record<string, unknown>>;
    return { title: textIn(title), language: textIn(language), published: dateOf(isoOf(textIn(created))) };
  } catch {
    // Damaged properties; the text could be read.
    return {};
  }
}

function textIn(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? oneLine(value) : null;
}

/** `D:20260131…` as `2026-01-31`. */
function isoOf(date: string | null): string | null {
  const match = /^D:(\d{4})(\d\d)(\d\d)/.exec(date ?? "");
  return match === null ? null : `${match[1] ?? ""}-${match[2] ?? ""}-${match[3] ?? ""}`;
}
