/** Crawls the pages of a source, breadth first. What waits is in the database, so a crawl goes on after a crash. */

import {
  addPages,
  countLoadedPages,
  hasPages,
  markPage,
  nextPage,
  notePageAttempt,
  type WaitingPage,
} from "../../../store/corpora/crawl-pages.ts";
import { inLoad, type Load } from "../../../store/corpora/loads.ts";
import { CUT_OFF, MAX_ATTEMPTS, type LoadDeps, type Progress } from "../load-deps.ts";
import { crawlRules } from "./crawl-rules.ts";
import { sitemapsOf, type Crawl } from "./crawl.ts";
import { fetchPage } from "./fetch-page.ts";
import { openHostPace } from "./host-pace.ts";
import { loadPage } from "./load-page.ts";
import { MAX_ROBOTS_BYTES, openRobots } from "./robots.ts";

/** For all crawls of the process. */
const pace = openHostPace();

export async function crawlSite(
  deps: LoadDeps,
  load: Load,
  { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal },
): Promise<Progress> {
  const turn = (url: string, delayMs: number): Promise<void> =>
    pace.turn(new URL(url).host, Math.max(delayMs, deps.crawlDelayMs), signal);
  const robots = openRobots(async (url) => {
    await turn(url, 0);
    return fetchPage(deps.client, { url, maxBytes: MAX_ROBOTS_BYTES, mayRequest: () => true }, signal);
  });
  const crawl: Crawl = { deps, load, rules: crawlRules(load.spec), robots, turn, signal };
  if (!(await hasPages(deps.db, load))) await addStartPages(crawl);
  for (;;) {
    signal.throwIfAborted();
    if ((await countLoadedPages(deps.db, load)) >= crawl.rules.maxDocuments) return "done";
    const page = await nextPage(deps.db, load);
    if (page === null) return "done";
    if (deps.nowMs() >= untilMs) return "more";
    await crawlPage(crawl, page);
  }
}

/** The start pages, and the sitemaps of their hosts where links may be followed. */
async function addStartPages({ deps, load, rules, robots }: Crawl): Promise<void> {
  const { startUrls, maxDepth, maxPages } = rules;
  const urls = [...startUrls];
  // At the same time: a hundred hosts that do not answer, one after the other, would take longer than a job may.
  if (maxDepth > 1) {
    const sitemaps = await Promise.all(startUrls.map((url) => sitemapsOf(robots, url)));
    urls.push(...sitemaps.flat());
  }
  await inLoad(deps.db, load, (tx) => addPages(tx, load, [...new Set(urls)], { depth: 1, maxPages }));
}

async function crawlPage(crawl: Crawl, page: WaitingPage): Promise<void> {
  const { deps, load } = crawl;
  if (page.attempts >= MAX_ATTEMPTS) {
    await inLoad(deps.db, load, (tx) => markPage(tx, page.pageId, "failed", CUT_OFF));
    return;
  }
  await inLoad(deps.db, load, (tx) => notePageAttempt(tx, page.pageId));
  await loadPage(crawl, page);
}
