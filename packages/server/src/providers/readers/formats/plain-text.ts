/** Plain text, tables of values, and lists of addresses. */

import { parse } from "csv-parse/sync";
import { oneLine, type Block } from "../chunks/blocks.ts";
import { decodeText } from "./decode-text.ts";
import { elements, parseXml, textOf } from "./dom.ts";
import { absolute } from "./html.ts";
import { damaged, type Input, type Parsed } from "./parsed.ts";

/** Paragraphs end at an empty line. */
export function paragraphsOf(text: string, page: number | null = null): Block[] {
  return text
    .split(/\r?\n[^\S\n]*\r?\n/u)
    .map((paragraph) => paragraph.replaceAll("\r", "").trim())
    .filter((paragraph) => paragraph !== "")
    .map((paragraph) => ({ kind: "paragraph", text: paragraph, page }));
}

export function readText({ bytes, charset }: Input): Parsed {
  return { blocks: paragraphsOf(decodeText(bytes, charset)) };
}

const DELIMITERS = [",", ";", "\t"];

/** The delimiter is the one that the first line has most often. */
export function readCsv({ bytes, charset }: Input): Parsed {
  const text = decodeText(bytes, charset);
  const [first = ""] = text.split(/\r?\n/, 1);
  const counts = DELIMITERS.map((delimiter) => first.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
  let records: string[][];
  try {
    records = parse(text, {
      bom: true,
      delimiter,
      relaxColumnCount: true,
      relaxQuotes: true,
      skipEmptyLines: true,
    });
  } catch {
    throw damaged("a quotation mark in it is not closed");
  }
  const rows = records.map((cells) => cells.map(oneLine).join(" | ")).filter((row) => /[^\s|]/u.test(row));
  return { blocks: rows.length === 0 ? [] : [{ kind: "table", rows, page: null }] };
}

/** The protocol of sitemaps allows 50,000; a crawl requests at most 1,000 pages. */
const MAX_ADDRESSES = 5_000;

/** A sitemap, or an index of sitemaps: addresses and no text. */
export function readSitemap({ bytes, charset, url }: Input): Parsed {
  const xml = decodeText(bytes, charset);
  if (!/<(?:\w+:)?(?:urlset|sitemapindex)[\s>]/.test(xml)) throw damaged("it is not a sitemap");
  const links = elements(parseXml(xml), "loc")
    .slice(0, MAX_ADDRESSES)
    .map((element) => absolute(textOf(element), url))
    .filter((link) => link !== null);
  return { blocks: [], links: [...new Set(links)], isList: true };
}
