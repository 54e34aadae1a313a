/** Requests one page through the guarded client, and says in a sentence why it has none. */

import { REFUSAL_ADVICE, TargetRefused } from "../../../net/target-url.ts";
import {
  MAX_REDIRECTS,
  RequestTimedOut,
  TooManyRedirects,
  type GuardedClient,
} from "../../../net/guarded-fetch.ts";
import type { LoadFailure } from "../../../store/corpora/documents.ts";
import { isSameHost } from "./crawl-rules.ts";

/** The first part of the user agent is the one that robots.txt names. */
export const CRAWLER_NAME = "ParleyCrawler";
const USER_AGENT = `${CRAWLER_NAME}/1.0`;
/** For a page with all of its redirects. */
const TIMEOUT_MS = 30_000;

export type FetchedPage =
  | {
      readonly kind: "page";
      /** After redirects. */
      readonly url: string;
      /** Lower case, without parameters; empty: none was given. */
      readonly mimeType: string;
      readonly charset: string | null;
      readonly bytes: Uint8Array;
    }
  /** `gone`: the page does not exist, and what was stored of it is old. */
  | { readonly kind: "gone" | "failed"; readonly failure: LoadFailure };

class OtherHost extends Error {}
class Disallowed extends Error {}

/** A page, or one that it redirects to. */
export const DISALLOWED: LoadFailure = {
  code: "robots_disallowed",
  message: "The rules of the host for crawlers (robots.txt) do not allow the page.",
};

export interface PageToFetch {
  readonly url: string;
  readonly maxBytes: number;
  /** Whether a redirect to the address on the same host may be followed. */
  readonly mayRequest: (url: string) => boolean;
}

export async function fetchPage(
  client: Pick<GuardedClient, "request">,
  { url, maxBytes, mayRequest }: PageToFetch,
  signal: AbortSignal,
): Promise<FetchedPage> {
  let at = new URL(url);
  try {
    const answer = await client.request(
      {
        url,
        method: "GET",
        headers: {
          "user-agent": USER_AGENT,
          accept: "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
        },
        body: null,
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: maxBytes,
        onRedirect(to) {
          if (!isSameHost(to, at)) throw new OtherHost();
          if (!mayRequest(to.href)) throw new Disallowed();
          at = to;
        },
      },
      signal,
    );
    const { status } = answer;
    if (status === 404 || status === 410) return { kind: "gone", failure: statusFailure(status) };
    if (status < 200 || status > 299) return { kind: "failed", failure: statusFailure(status) };
    if (answer.truncated) {
      const message = `The page has more than ${String(maxBytes)} bytes.`;
      return { kind: "failed", failure: { code: "too_large", message } };
    }
    at.hash = "";
    return {
      kind: "page",
      url: at.href,
      ...contentType(answer.headers["content-type"] ?? ""),
      bytes: answer.body,
    };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", failure: failureOf(error) };
  }
}

function statusFailure(status: number): LoadFailure {
  const code = status === 404 || status === 410 ? "not_found" : "http_status";
  return { code, message: `The server answered with HTTP ${String(status)}.` };
}

function contentType(header: string): { readonly mimeType: string; readonly charset: string | null } {
  const [type = ""] = header.split(";", 1);
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(header)?.[1] ?? null;
  return { mimeType: type.trim().toLowerCase(), charset };
}

/** Never what a name resolves to, or what another server has said. */
function failureOf(error: unknown): LoadFailure {
  if (error instanceof OtherHost)
    return {
      code: "redirected_elsewhere",
      message: "The page redirects to another host, which is not followed.",
    };
  if (error instanceof Disallowed) return DISALLOWED;
  if (error instanceof TargetRefused)
    return {
      code: "address_refused",
      message: `The address may not be requested: ${error.message} (${REFUSAL_ADVICE}).`,
    };
  if (error instanceof RequestTimedOut)
    return {
      code: "timeout",
      message: `The server did not answer within ${String(TIMEOUT_MS / 1_000)} seconds.`,
    };
  if (error instanceof TooManyRedirects)
    return {
      code: "too_many_redirects",
      message: `The page redirects more than ${String(MAX_REDIRECTS)} times.`,
    };
  return { code: "unreachable", message: "The server cannot be reached, or its answer is not valid." };
}
