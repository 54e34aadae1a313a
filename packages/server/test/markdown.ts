/** Reads Markdown files: links, the anchors that links may name, and rows of tables. Pure. */

export interface Link {
  readonly line: number;
  /** As written, such as `../limits.md#rates`. */
  readonly target: string;
}

const INLINE_LINK = /\]\(<?([^()\s>]*(?:\([^()\s]*\))?[^()\s>]*)>?(?:\s+"[^"]*")?\)/g;
const REFERENCE_LINK = /^\s*\[[^\]]+\]:\s*(\S+)/;
const HTML_LINK = /\b(?:href|src)="([^"]+)"/g;
const FENCE = /^\s*(?:```|~~~)/;

/** Links outside of code. Lines are counted from 1. */
export function linksOf(markdown: string): Link[] {
  return proseLines(markdown).flatMap(({ text, line }) => {
    const prose = withoutCode(text);
    const targets = [
      ...[...prose.matchAll(INLINE_LINK)].map(([, target]) => target),
      REFERENCE_LINK.exec(prose)?.[1],
      ...[...prose.matchAll(HTML_LINK)].map(([, target]) => target),
    ];
    return targets.filter((target) => target !== undefined).map((target) => ({ line, target }));
  });
}

/** Names that follow `#` in a link: headings as GitHub spells them, and ids written in HTML. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  const seen = new Map<string, number>();
  for (const { text } of proseLines(markdown)) {
    for (const [, id = ""] of text.matchAll(/\b(?:id|name)="([^"]+)"/g)) anchors.add(id);
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
}

function slugOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/<[^>]*>/g, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}

/** Cells of every row whose first cell matches, without the spaces around them. */
export function tableRows(markdown: string, first: RegExp): string[][] {
  return markdown
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
    .filter(([cell = ""]) => first.test(cell));
}

function proseLines(markdown: string): { readonly text: string; readonly line: number }[] {
  let isCode = false;
  return markdown.split("\n").flatMap((text, at) => {
    const isFence = FENCE.test(text);
    if (isFence) isCode = !isCode;
    return isCode || isFence ? [] : [{ text, line: at + 1 }];
  });
}

function withoutCode(line: string): string {
  return line.replaceAll(/`[^`]*`/g, (code) => " ".repeat(code.length));
}
