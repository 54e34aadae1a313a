/** Loads one page of a crawl: requests it, reads it, and stores its chunks and its links in one transaction. */

import { createHash } from "node:crypto";
import { UnreadableDocument, type ReadDocument } from "../../../ports/corpora/document-reader.ts";
import { checkCorpusLimits } from "../../../store/corpora/account-limits.ts";
import {
  addPages,
  deletePageDocument,
  isSkippedPage,
  makePageDocument,
  markPage,
  type WaitingPage,
} from "../../../store/corpora/crawl-pages.ts";
import {
  confirmDocument,
  failDocument,
  findPageDocument,
  keepDocument,
  READING_VERSION,
  storeReading,
  type LoadFailure,
  type LoadingDocument,
} from "../../../store/corpora/documents.ts";
import { inLoad } from "../../../store/corpora/loads.ts";
import { CorpusLimitError } from "../../../store/database/store-errors.ts";
import type { Db } from "../../../store/database/db.ts";
import { followedLinks, isSameHost, pageUrl } from "./crawl-rules.ts";
import { sitemapsOf, type Crawl } from "./crawl.ts";
import { DISALLOWED, fetchPage, type FetchedPage } from "./fetch-page.ts";

type Page = Extract<FetchedPage, { readonly kind: "page" }>;

/** Their links are needed again, also when the page has not changed. */
const LINKING: ReadonlySet<string> = new Set([
  "text/html",
  "application/xhtml+xml",
  "application/xml",
  "text/xml",
]);
const SITEMAP: ReadonlySet<string> = new Set(["application/xml", "text/xml"]);

export async function loadPage(crawl: Crawl, page: WaitingPage): Promise<void> {
  const { deps, robots, rules, signal } = crawl;
  const { mayRequest, delayMs } = await robots.rulesFor(page.url);
  if (mayRequest === null) {
    const message = "The rules of the host for crawlers (robots.txt) cannot be read now.";
    return fail(crawl, page, { code: "robots_unavailable", message });
  }
  if (!mayRequest(page.url)) return skip(crawl, page, DISALLOWED);
  await crawl.turn(page.url, delayMs);
  const { url } = page;
  const fetched = await fetchPage(deps.client, { url, maxBytes: rules.maxDocumentBytes, mayRequest }, signal);
  if (fetched.kind !== "page") {
    if (fetched.failure === DISALLOWED) return skip(crawl, page, DISALLOWED);
    return fetched.kind === "gone" ? gone(crawl, page, fetched.failure) : fail(crawl, page, fetched.failure);
  }
  // The address behind a redirect is a page of its own, so that it is stored once.
  if (fetched.url !== url && !(await wasLeft(crawl, fetched.url)))
    return continueAt(crawl, page, fetched.url);
  await readPage(crawl, { ...page, url: fetched.url }, { fetched, requestedUrl: url });
}

/** The crawl was at the address, and has left it for one that leads to it again. */
async function wasLeft({ deps, load, robots }: Crawl, url: string): Promise<boolean> {
  // Those that the rules of its own scheme and host forbid were left as well.
  const { mayRequest } = await robots.rulesFor(url);
  return mayRequest?.(url) === true && isSkippedPage(deps.db, load, url);
}

interface Answer {
  readonly fetched: Page;
  /** Before redirects. */
  readonly requestedUrl: string;
}

async function readPage(crawl: Crawl, page: WaitingPage, answer: Answer): Promise<void> {
  const { fetched } = answer;
  const { deps, load, rules, signal } = crawl;
  const { mimeType, bytes, charset } = fetched;
  const isSitemap = SITEMAP.has(mimeType);
  if (
    !deps.reader.mimeTypes.has(mimeType) ||
    !(isSitemap || rules.isRelevant(mimeType) || LINKING.has(mimeType))
  ) {
    const message = `Documents of the type ${mimeType === "" ? "that the server does not name" : mimeType} are not loaded.`;
    return skip(crawl, page, { code: "unsupported_type", message });
  }
  const known = await findPageDocument(deps.db, load, page.url);
  const contentHash = createHash("sha256").update(bytes).digest("hex");
  const isUnchanged =
    known?.status === "ready" &&
    known.contentHash === contentHash &&
    known.readingVersion === READING_VERSION;
  if (isUnchanged && !LINKING.has(mimeType)) {
    await inLoad(deps.db, load, async (tx) => {
      await confirmDocument(tx, load, known.documentId);
      await markPage(tx, page.pageId, "loaded");
    });
    return;
  }
  try {
    const read = await deps.reader.read(
      { bytes, mimeType, charset, url: page.url, ownerId: load.accountId },
      signal,
    );
    await storePage(crawl, page, { ...answer, read, contentHash });
  } catch (error) {
    if (error instanceof CorpusLimitError) {
      const code = `account_${error.limit}`;
      return fail(crawl, page, {
        code,
        message: `The account has reached its limit of ${error.limit} in corpora.`,
      });
    }
    if (!(error instanceof UnreadableDocument)) throw error;
    await unreadable(crawl, page, known, error);
  }
}

interface ReadPage extends Answer {
  readonly read: ReadDocument;
  readonly contentHash: string;
}

async function storePage(
  crawl: Crawl,
  page: WaitingPage,
  { fetched, requestedUrl, read, contentHash }: ReadPage,
): Promise<void> {
  const { deps, load, rules, signal } = crawl;
  const canonical = read.canonicalUrl === null ? null : pageUrl(read.canonicalUrl);
  if (
    canonical !== null &&
    canonical !== page.url &&
    isSameHost(new URL(canonical), new URL(page.url)) &&
    !(await leadsBack(crawl, canonical, requestedUrl))
  )
    return continueAt(crawl, page, canonical);
  const isList = SITEMAP.has(fetched.mimeType);
  const isDocument = !isList && !read.isHidden && rules.isRelevant(fetched.mimeType);
  if (!isDocument) {
    await inLoad(deps.db, load, async (tx) => {
      await addLinks(tx, crawl, page, read.links, isList);
      await deletePageDocument(tx, load, page.url);
      await markPage(tx, page.pageId, "skipped");
    });
    return;
  }
  const documentId = await inLoad(deps.db, load, async (tx) => {
    const isNew = (await findPageDocument(tx, load, page.url)) === null;
    const added = { documents: isNew ? 1 : 0, bytes: isNew ? fetched.bytes.byteLength : 0 };
    await checkCorpusLimits(tx, load.accountId, added, deps.limits);
    return makePageDocument(tx, load, page.url, fetched.mimeType);
  });
  const reading = {
    ...read,
    mimeType: fetched.mimeType,
    sizeBytes: fetched.bytes.byteLength,
    contentHash,
    exampleQueries: [],
  };
  const document = { documentId, url: page.url };
  // Links are stored with the last chunks: until then the page waits, and is loaded again after a crash.
  const wake = await storeReading(deps.db, load, document, reading, {
    signal,
    finish: async (tx, changed) => {
      await addLinks(tx, crawl, page, read.links, isList);
      await markPage(tx, page.pageId, "loaded");
      return changed > 0 ? deps.chunksChanged(tx, load, changed) : null;
    },
  });
  wake?.();
}

/**
 * Pages often name an address that redirects to them, such as the one with http, or name each other: the crawl has come
 * from there, so the page is stored here or nowhere.
 */
async function leadsBack({ deps, load }: Crawl, canonical: string, requestedUrl: string): Promise<boolean> {
  return canonical === requestedUrl || isSkippedPage(deps.db, load, canonical);
}

async function addLinks(
  tx: Db,
  { load, rules }: Crawl,
  page: WaitingPage,
  links: readonly string[],
  isList: boolean,
): Promise<void> {
  const { maxDepth, maxPages } = rules;
  const followed = followedLinks(links, page.url);
  if (isList) {
    // A list of sitemaps leads to further lists, which are no deeper.
    const lists = followed.filter((url) => new URL(url).pathname.endsWith(".xml"));
    await addPages(tx, load, lists, { depth: page.depth, maxPages });
  }
  if (page.depth < maxDepth) await addPages(tx, load, followed, { depth: page.depth + 1, maxPages });
}

/** The page is stored at another address, which is requested by itself. */
async function continueAt({ deps, load, rules }: Crawl, page: WaitingPage, url: string): Promise<void> {
  await inLoad(deps.db, load, async (tx) => {
    const other = pageUrl(url);
    if (other !== null) await addPages(tx, load, [other], { depth: page.depth, maxPages: rules.maxPages });
    await markPage(tx, page.pageId, "skipped");
  });
}

/** The page does not exist any more: what was stored of it goes at the end of the load. */
async function gone(crawl: Crawl, page: WaitingPage, failure: LoadFailure): Promise<void> {
  const { deps, load } = crawl;
  const isSitemap = await isUsualSitemap(crawl, page);
  await inLoad(deps.db, load, async (tx) => {
    await deletePageDocument(tx, load, page.url);
    await markPage(tx, page.pageId, isSitemap ? "skipped" : "failed", isSitemap ? null : failure);
  });
}

/** The page cannot be loaded now. A document of an earlier load stays, with the reason. */
async function fail(crawl: Crawl, page: WaitingPage, failure: LoadFailure): Promise<void> {
  const { deps, load } = crawl;
  const isSitemap = await isUsualSitemap(crawl, page);
  const cutOff = await findPageDocument(deps.db, load, page.url);
  // Its first load was cut off while its chunks were stored, so there is nothing whole to keep.
  if (cutOff?.status === "uploaded") return failStored(crawl, page, cutOff.documentId, failure);
  await inLoad(deps.db, load, async (tx) => {
    const known = await findPageDocument(tx, load, page.url);
    if (known !== null) await keepDocument(tx, load, known.documentId, failure);
    await markPage(tx, page.pageId, isSitemap ? "skipped" : "failed", isSitemap ? null : failure);
  });
  deps.log.info({ sourceId: load.sourceId, failure: failure.code }, "a page of a corpus cannot be loaded");
}

/** A start page that is skipped is a failure, because somebody named it; others are only not wanted. */
async function skip(crawl: Crawl, page: WaitingPage, failure: LoadFailure): Promise<void> {
  const { deps, load } = crawl;
  const isNamed = crawl.rules.startUrls.includes(page.url);
  await inLoad(deps.db, load, (tx) =>
    markPage(tx, page.pageId, isNamed ? "failed" : "skipped", isNamed ? failure : null),
  );
}

/** The page has been requested, and its content cannot be read. */
async function unreadable(
  crawl: Crawl,
  page: WaitingPage,
  known: LoadingDocument | null,
  { code, message }: UnreadableDocument,
): Promise<void> {
  const { deps, load } = crawl;
  // A page without text, such as a list of pictures, is no failure unless somebody named it.
  if (known === null && code === "no_text") return skip(crawl, page, { code, message });
  if (known !== null) return failStored(crawl, page, known.documentId, { code, message });
  await inLoad(deps.db, load, (tx) => markPage(tx, page.pageId, "failed", { code, message }));
}

/** With what was stored of the page. */
async function failStored(
  { deps, load }: Crawl,
  page: WaitingPage,
  documentId: string,
  failure: LoadFailure,
): Promise<void> {
  const wake = await failDocument(deps.db, load, documentId, failure, async (tx, changed) => {
    await markPage(tx, page.pageId, "failed", failure);
    return changed > 0 ? deps.chunksChanged(tx, load, changed) : null;
  });
  wake?.();
}

/** Nobody named it, so nobody needs to know that it is not there. */
async function isUsualSitemap({ robots, rules }: Crawl, { url }: WaitingPage): Promise<boolean> {
  if (rules.startUrls.includes(url) || !/sitemap[^/]*\.xml$/i.test(new URL(url).pathname)) return false;
  return (await sitemapsOf(robots, url)).includes(url);
}
