/** Slides of presentations. */

import type { Block } from "../chunks/blocks.ts";

/** A longer first line is a sentence and no title. */
const MAX_TITLE_CHARS = 100;

/** Of a slide without a title: its first line begins a section, so that no chunk has the text of two slides. */
export function withFirstLineAsTitle(blocks: readonly Block[]): Block[] {
  const [first, ...rest] = blocks;
  if (first?.kind !== "paragraph") return [...blocks];
  const { text, page } = first;
  if (text.length > MAX_TITLE_CHARS) return [...blocks];
  return [{ kind: "heading", level: 1, text, page }, ...rest];
}
