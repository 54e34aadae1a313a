/** One crawl while it runs. */

import type { Load } from "../../../store/corpora/loads.ts";
import type { LoadDeps } from "../load-deps.ts";
import { isSameHost, pageUrl, type CrawlRules } from "./crawl-rules.ts";
import type { Robots } from "./robots.ts";

export interface Crawl {
  readonly deps: LoadDeps;
  readonly load: Load;
  readonly rules: CrawlRules;
  readonly robots: Robots;
  /** Waits until the host may be requested, by its own rules as well. */
  readonly turn: (url: string, delayMs: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Those that the host names, or the usual one. */
export async function sitemapsOf(robots: Robots, url: string): Promise<string[]> {
  const { sitemaps } = await robots.rulesFor(url);
  const own = sitemaps.flatMap((sitemap) => {
    const page = pageUrl(sitemap);
    return page !== null && isSameHost(new URL(page), new URL(url)) ? [page] : [];
  });
  return own.length > 0 ? own : [`${new URL(url).origin}/sitemap.xml`];
}
