/** Web pages. Readability finds the article of a page; where it finds none, the whole page is read. */

import { Readability } from "@mozilla/readability";
import { oneLine, type Block, type Heading } from "../chunks/blocks.ts";
import { decodeText } from "./decode-text.ts";
import { parseHtml, textOf, type DomDocument } from "./dom.ts";
import { blocksOfHtml } from "./html-blocks.ts";
import type { Input, Parsed } from "./parsed.ts";

/** A page has a few hundred links; more are those of a list that was made for machines. */
const MAX_LINKS = 2_000;
/** Where the charset of a page is looked for, as browsers do. */
const CHARSET_WITHIN_BYTES = 1_024;
/** Of the text of the page, an article has at least this share; else it is only the beginning of a list. */
const SHARE_OF_ARTICLE = 0.3;
const MAX_ELEMENTS = 100_000;

export function readHtml({ bytes, charset, url }: Input): Parsed {
  const html = decodeText(bytes, charset ?? charsetOf(bytes));
  const document = parseHtml(html);
  const meta = metaOf(document);
  const base = baseOf(document, url);
  const robots = (meta("robots") ?? "").toLowerCase();
  const links = robots.includes("nofollow") || robots.includes("none") ? [] : linksOf(document, base);
  return {
    // Last, because it takes elements out of the document.
    title: textOf(document.querySelector("title")) ?? meta("og:title"),
    description: meta("description") ?? meta("og:description"),
    published: dateOf(meta("article:published_time") ?? meta("date")),
    language: document.documentElement?.getAttribute("lang") ?? null,
    links,
    canonicalUrl: absolute(document.querySelector("link[rel=canonical]")?.getAttribute("href") ?? null, base),
    isHidden: robots.includes("noindex") || robots.includes("none"),
    blocks: blocksOf(document, html),
  };
}

/** Of an HTML page in an archive, or made from another format: there is nothing to leave out. */
export function blocksOfWholeHtml(html: string, page: number | null = null): Block[] {
  const document = parseHtml(html);
  return document.body === null ? [] : blocksOfHtml(document.body, page);
}

function blocksOf(document: DomDocument, html: string): Block[] {
  const whole = wholePage(document);
  const article = articleOf(html);
  if (lengthOf(article) < lengthOf(whole) * SHARE_OF_ARTICLE) return whole;
  // Readability leaves out the first heading where it is like the title.
  const first = whole.find((block) => isHeading(block) && block.level === 1) as Heading | undefined;
  const isThere =
    first === undefined || article.some((block) => isHeading(block) && block.text === first.text);
  return isThere ? article : [first, ...article];
}

function isHeading(block: Block): block is Heading {
  return block.kind === "heading";
}

/** The page without what surrounds its content. */
function wholePage(document: DomDocument): Block[] {
  if (document.body === null) return [];
  for (const around of Array.from(document.querySelectorAll("nav,footer,aside,[aria-hidden=true]"))) {
    (around as unknown as { readonly remove: () => void }).remove();
  }
  return blocksOfHtml(document.body);
}

/** Readability changes the document, so it gets one of its own. */
function articleOf(html: string): Block[] {
  const document = parseHtml(html);
  const readability = new Readability(document, { maxElemsToParse: MAX_ELEMENTS });
  let content: string | null | undefined;
  try {
    content = readability.parse()?.content;
  } catch {
    // Its own limit, or a page that it cannot handle: the whole page is read.
    return [];
  }
  return content === null || content === undefined ? [] : blocksOfWholeHtml(content);
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce(
    (sum, block) => sum + (block.kind === "table" ? block.rows.join("").length : block.text.length),
    0,
  );
}

function metaOf(document: DomDocument): (name: string) => string | null {
  const values = new Map<string, string>();
  for (const element of document.querySelectorAll("meta")) {
    const name = (element.getAttribute("name") ?? element.getAttribute("property") ?? "").toLowerCase();
    const content = oneLine(element.getAttribute("content") ?? "");
    if (name !== "" && content !== "" && !values.has(name)) values.set(name, content);
  }
  return (name) => values.get(name) ?? null;
}

function charsetOf(bytes: Uint8Array): string | null {
  const head = Buffer.from(bytes.subarray(0, CHARSET_WITHIN_BYTES)).toString("latin1");
  return /<meta[^>]+charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1] ?? null;
}

function baseOf(document: DomDocument, url: string | null): string | null {
  return absolute(document.querySelector("base")?.getAttribute("href") ?? null, url) ?? url;
}

function linksOf(document: DomDocument, base: string | null): string[] {
  const links = new Set<string>();
  for (const element of document.querySelectorAll("a,area")) {
    if (links.size >= MAX_LINKS) break;
    if (/\bnofollow\b/i.test(element.getAttribute("rel") ?? "")) continue;
    const link = absolute(element.getAttribute("href"), base);
    if (link !== null) links.add(link);
  }
  return [...links];
}

/** A crawl follows shorter ones only. A page names its base, which would make megabytes of each of its links. */
const MAX_URL_CHARS = 2_000;

/** Http and https only, without the fragment; null: it is none, or longer than `MAX_URL_CHARS`. */
export function absolute(href: string | null, base: string | null): string | null {
  if (href === null || base === null || href.length > MAX_URL_CHARS || base.length > MAX_URL_CHARS)
    return null;
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  url.hash = "";
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  return isWeb && url.href.length <= MAX_URL_CHARS ? url.href : null;
}

export function dateOf(text: string | null): string | null {
  const ms = text === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
