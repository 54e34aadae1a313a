/** What a crawl may load: which addresses, types and amounts. */

import { CrawlSpec, MAX_DOCUMENT_BYTES, MAX_DOCUMENTS } from "@parley/schema";

/** Start pages, the pages that they link to, and those that these link to. */
const DEFAULT_DEPTH = 3;
/** Pages that are requested for each document that may be stored: others are duplicates, lists or not there. */
const PAGES_PER_DOCUMENT = 5;
const FEWEST_PAGES = 50;
/** An index entry of the database has at most 2,700 bytes. */
const MAX_URL_CHARS = 1_500;
/** Files of these names are never documents; requesting them would only load the other side. */
const OTHER_FILES =
  /\.(?:avif|bmp|bz2|css|dmg|eot|exe|flac|gif|gz|ico|iso|jpe?g|js|json|m4a|mjs|mkv|mov|mp[34]|ogg|otf|png|rar|rss|svg|tar|tgz|tiff?|ttf|wasm|wav|web[mp]|woff2?|zip)$/i;

export interface CrawlRules {
  readonly startUrls: readonly string[];
  readonly maxDepth: number;
  readonly maxDocuments: number;
  readonly maxDocumentBytes: number;
  /** Of the whole crawl, documents or not. */
  readonly maxPages: number;
  /** Whether documents of the type are wanted. */
  readonly isRelevant: (mimeType: string) => boolean;
}

export function crawlRules(spec: Readonly<Record<string, unknown>>): CrawlRules {
  const {
    startUrls,
    maxDepth,
    maxDocuments = MAX_DOCUMENTS,
    maxDocumentBytes,
    relevantDocumentTypes,
  } = CrawlSpec.parse(spec);
  const include = relevantDocumentTypes?.include?.mimeTypes ?? [];
  const exclude = relevantDocumentTypes?.exclude?.mimeTypes ?? [];
  return {
    startUrls: startUrls.map((url) => pageUrl(url)).filter((url) => url !== null),
    maxDepth: maxDepth ?? DEFAULT_DEPTH,
    maxDocuments,
    maxDocumentBytes: maxDocumentBytes ?? MAX_DOCUMENT_BYTES,
    maxPages: Math.max(FEWEST_PAGES, maxDocuments * PAGES_PER_DOCUMENT),
    isRelevant: (type) =>
      (include.length === 0 || include.some((pattern) => matches(pattern, type))) &&
      !exclude.some((pattern) => matches(pattern, type)),
  };
}

/** `text/*` names all types of text. */
function matches(pattern: string, type: string): boolean {
  const wanted = pattern.toLowerCase();
  return wanted.endsWith("/*") ? type.startsWith(wanted.slice(0, -1)) : type === wanted;
}

/** The address as the crawl notes it, without its fragment; null: it is not that of a page. */
export function pageUrl(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  url.hash = "";
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  if (url.username !== "" || url.password !== "" || url.href.length > MAX_URL_CHARS) return null;
  return url.href;
}

/** The same name and port; a page may go from http to https. */
export function isSameHost(one: URL, other: URL): boolean {
  return one.hostname === other.hostname && one.port === other.port;
}

/** Links of a page that the crawl follows: to its own host, and probably documents. */
export function followedLinks(links: readonly string[], from: string): string[] {
  const host = new URL(from);
  const followed = links.flatMap((link) => {
    const url = pageUrl(link);
    return url === null || !isSameHost(new URL(url), host) || OTHER_FILES.test(new URL(url).pathname)
      ? []
      : [url];
  });
  return [...new Set(followed)];
}
