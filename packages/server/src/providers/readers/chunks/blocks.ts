/** A document as a list of blocks: what every format is turned into, and what chunks are made of. */

export interface Heading {
  readonly kind: "heading";
  /** 1 is the outermost. */
  readonly level: number;
  readonly text: string;
  readonly page: number | null;
}

/** A paragraph, an entry of a list, or preformatted text. */
export interface Paragraph {
  readonly kind: "paragraph";
  readonly text: string;
  readonly page: number | null;
}

/** Rows as lines, cells separated by ` | `. The first row is repeated in each part of a table that is divided. */
export interface Table {
  readonly kind: "table";
  readonly rows: readonly string[];
  readonly page: number | null;
}

export type Block = Heading | Paragraph | Table;

/** Spaces and line breaks of any kind as one space. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}
