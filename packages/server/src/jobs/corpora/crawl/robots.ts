/** The rules of hosts for crawlers (RFC 9309), read once for each portion of a crawl. */

import robotsParser from "robots-parser";
import { CRAWLER_NAME, type FetchedPage } from "./fetch-page.ts";

/** The package is a function, and its types state a module with one. */
const parseRobots = robotsParser as unknown as typeof robotsParser.default;

/** RFC 9309 asks for at least 500 KiB. */
export const MAX_ROBOTS_BYTES = 512 * 1024;
/** A longer delay would let a crawl of 200 pages take more than half an hour. */
const LONGEST_DELAY_MS = 10_000;
const MAX_SITEMAPS = 20;
/** Every page is compared with every rule, in the thread of the service. Sites have at most some hundred rules. */
const MAX_RULES = 5_000;
/**
 * Characters of all rules with wildcards: each is compared with each place of an address of up to 1,500 characters, so
 * this is 30 million comparisons, some 50 ms.
 */
const MAX_WILDCARD_CHARS = 20_000;

export interface RobotsRules {
  /** Null: the rules cannot be read now, so nothing may be requested (RFC 9309, 2.3.1.4). */
  readonly mayRequest: ((url: string) => boolean) | null;
  /** Asked for by the host; 0: none. */
  readonly delayMs: number;
  readonly sitemaps: readonly string[];
}

export interface Robots {
  /** Of the host of the address. */
  rulesFor(url: string): Promise<RobotsRules>;
}

/** `request` fetches a `robots.txt`. */
export function openRobots(request: (url: string) => Promise<FetchedPage>): Robots {
  const known = new Map<string, Promise<RobotsRules>>();
  return {
    rulesFor(url) {
      const { origin } = new URL(url);
      const before = known.get(origin);
      if (before !== undefined) return before;
      const rules = readRules(origin, request);
      known.set(origin, rules);
      return rules;
    },
  };
}

async function readRules(
  origin: string,
  request: (url: string) => Promise<FetchedPage>,
): Promise<RobotsRules> {
  const at = `${origin}/robots.txt`;
  const answer = await request(at);
  if (answer.kind !== "page") {
    const isThere = answer.kind === "failed" && isUnavailable(answer.failure);
    return { mayRequest: isThere ? null : () => true, delayMs: 0, sitemaps: [] };
  }
  const lines = ownLines(new TextDecoder().decode(answer.bytes));
  if (lines === null) return { mayRequest: null, delayMs: 0, sitemaps: [] };
  const rules = parseRobots(at, lines);
  const delayMs = Math.max(0, (rules.getCrawlDelay(CRAWLER_NAME) ?? 0) * 1_000);
  return {
    mayRequest: (url) => rules.isAllowed(url, CRAWLER_NAME) !== false,
    delayMs: Math.min(Number.isFinite(delayMs) ? delayMs : 0, LONGEST_DELAY_MS),
    sitemaps: rules.getSitemaps().slice(0, MAX_SITEMAPS),
  };
}

const RULES: ReadonlySet<string> = new Set(["allow", "disallow", "crawl-delay"]);

/**
 * The lines that matter for this crawler. The package stores each rule once for each name of its group, so a site could
 * make a billion of them; here a group has two names at most. Null: there are more rules than are compared.
 */
function ownLines(text: string): string | null {
  const kept: string[] = [];
  let names = new Set<string>();
  let isNaming = false;
  let isNamed = false;
  let rules = 0;
  let wildcardChars = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    const [, field = "", given = ""] = /^([^:#]*):([^#]*)/.exec(line) ?? [];
    const key = field.trim().toLowerCase();
    const value = given.trim();
    if (key === "") continue;
    if (key === "user-agent") {
      if (!isNaming) {
        names = new Set();
        isNamed = false;
      }
      isNaming = true;
      const [name = ""] = value.toLowerCase().split("/", 1);
      if (name.trim() === "*" || name.trim() === CRAWLER_NAME.toLowerCase()) names.add(name.trim());
      continue;
    }
    isNaming = false;
    if (key === "sitemap") kept.push(`Sitemap: ${value}`);
    if (!RULES.has(key) || names.size === 0) continue;
    rules += 1;
    if (value.includes("*")) wildcardChars += value.length;
    if (rules > MAX_RULES || wildcardChars > MAX_WILDCARD_CHARS) return null;
    if (!isNamed) kept.push(...Array.from(names, (name) => `User-agent: ${name}`));
    isNamed = true;
    kept.push(`${key}: ${value}`);
  }
  return kept.join("\n");
}

/**
 * Errors of the server, servers that do not answer, and rules that are too long: the one for a page may be behind the
 * limit. A refusal such as 403 means that there are no rules.
 */
function isUnavailable({ code, message }: { readonly code: string; readonly message: string }): boolean {
  if (code === "http_status") return /HTTP 5\d\d/.test(message);
  return code === "timeout" || code === "unreachable" || code === "too_large";
}
