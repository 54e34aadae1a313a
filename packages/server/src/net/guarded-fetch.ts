/**
 * HTTP requests to URLs that users name: to allowed addresses only, without proxy, with limits on time and size, and at
 * most once. Each request has a connection of its own, so that none is lost on a connection that the other side was
 * just closing, and nothing has to be sent again.
 */

import { Client, type Dispatcher } from "undici";
import { openGuardedDial, type GuardOptions, type GuardedDial } from "./guarded-dial.ts";
import { checkedUrl, TargetRefused, targetOf } from "./target-url.ts";
import { errorOf } from "../pacing/error-text.ts";

export interface GuardedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  /** For everything together, redirects and the body of the answer included. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body that are read; the rest is left. */
  readonly maxBodyBytes: number;
  /** Names, in lower case, of headers that may follow a redirect to another origin; all others stay behind. */
  readonly harmlessHeaders?: readonly string[];
  /** Called before each redirect is followed; it throws to refuse it. */
  readonly onRedirect?: (to: URL) => void;
}

export interface GuardedResponse {
  readonly status: number;
  /** Names in lower case; several of a name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** More came than `maxBodyBytes`. */
  readonly truncated: boolean;
}

export interface GuardedClient {
  /** @throws TargetRefused, RequestTimedOut, what `signal` was aborted with, or why there is no answer */
  request(request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse>;
  /** As the web's `fetch`, without redirects; the body of the answer is cut off with an error after `maxBodyBytes`. */
  fetch(url: string | URL, init: RequestInit | undefined, maxBodyBytes: number): Promise<Response>;
}

export class RequestTimedOut extends Error {
  override readonly name = "RequestTimedOut";

  constructor(limitMs: number) {
    super(`timeout after ${String(limitMs / 1000)}s`);
  }
}

/** Of `fetch`: the body of an answer went beyond what may be read of it. */
export class AnswerTooLarge extends Error {
  override readonly name = "AnswerTooLarge";

  constructor(limitBytes: number) {
    super(`the answer is longer than ${String(limitBytes)} bytes`);
  }
}

/** Errors from before the first byte of a request. */
const unsent = new WeakSet<object>();

/** Whether the server cannot have got the request that failed with this error. False: it may have. */
export function wasNotSent(error: unknown): boolean {
  return error instanceof TargetRefused || (typeof error === "object" && error !== null && unsent.has(error));
}

/** Redirects of GET and HEAD; a request with an effect is never sent on. */
export const MAX_REDIRECTS = 3;

export class TooManyRedirects extends Error {
  override readonly name = "TooManyRedirects";

  constructor() {
    super("too many redirects");
  }
}

/** All headers of an answer together; as much as servers commonly send at most. */
const MAX_HEADER_BYTES = 65_536;

/** They say where a request goes and where it ends, which is not for whoever gives the headers to decide. */
const FRAMING_HEADERS = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Such a header is refused in every request. */
export function isFramingHeader(name: string): boolean {
  return FRAMING_HEADERS.has(name.toLowerCase());
}

export function openGuardedClient(options: GuardOptions): GuardedClient {
  const dial = openGuardedDial(options);
  const { allowed } = options;

  const follow = async (request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse> => {
    const { method } = request;
    const redirectable = method === "GET" || method === "HEAD";
    let url = checkedUrl(request.url, allowed);
    let { headers } = request;
    for (let redirects = 0; ; redirects += 1) {
      const opened = await open(dial, url, { method, headers, body: request.body, signal });
      try {
        const location = isRedirect(opened.status) ? opened.headers["location"] : undefined;
        if (location === undefined || !redirectable) return await readAnswer(opened, request.maxBodyBytes);
        if (redirects === MAX_REDIRECTS) throw new TooManyRedirects();
        if (!URL.canParse(location, url.href)) throw new Error("a redirect has no valid URL");
        const next = checkedUrl(new URL(location, url).href, allowed);
        request.onRedirect?.(next);
        if (next.origin !== url.origin) headers = onlyHarmless(headers, request.harmlessHeaders ?? []);
        url = next;
      } finally {
        opened.close();
      }
    }
  };

  return {
    async request(request, signal) {
      signal.throwIfAborted();
      const limit = new AbortController();
      const timer = setTimeout(() => {
        limit.abort(new RequestTimedOut(request.timeoutMs));
      }, request.timeoutMs);
      const either = AbortSignal.any([signal, limit.signal]);
      try {
        return await follow(request, either);
      } catch (error) {
        // Libraries throw errors of their own when they are aborted; what counts is why.
        either.throwIfAborted();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    async fetch(target, init = {}, maxBodyBytes) {
      const url = checkedUrl(String(target), allowed);
      const method = (init.method ?? "GET").toUpperCase();
      const headers = Object.fromEntries(new Headers(init.headers));
      const { body = null, signal } = init;
      if (body !== null && typeof body !== "string") throw new TypeError("only a text can be sent");
      const own = signal ?? new AbortController().signal;
      const opened = await open(dial, url, { method, headers, body, signal: own });
      if (isRedirect(opened.status)) {
        opened.close();
        throw new Error(`redirects are not followed (HTTP ${String(opened.status)})`);
      }
      return responseOf(opened, method, maxBodyBytes);
    },
  };
}

interface Outgoing {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | null;
  readonly signal: AbortSignal;
}

interface Opened {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Dispatcher.ResponseData["body"];
  /** Lets go of the connection, and of whatever was not read. Idempotent. */
  readonly close: () => void;
}

async function open(dial: GuardedDial, url: URL, outgoing: Outgoing): Promise<Opened> {
  const { signal } = outgoing;
  const framing = Object.keys(outgoing.headers).find(isFramingHeader);
  if (framing !== undefined) throw new TargetRefused(`the header ${framing} cannot be set`);
  const client = new Client(url.origin, {
    // One request, one connection: "Connection: close".
    pipelining: 0,
    maxHeaderSize: MAX_HEADER_BYTES,
    // The caller's limits hold for the whole request; these would only hide them.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (_options, connected) => {
      dial(targetOf(url), signal).then(
        (socket) => {
          connected(null, socket);
        },
        (error: unknown) => {
          const failure = errorOf(error);
          unsent.add(failure);
          connected(failure, null);
        },
      );
    },
  });
  const close = (): void => {
    client.destroy().catch(() => {
      // Nothing is left to be done with a connection that cannot be closed in order.
    });
  };
  try {
    const answer = await client.request({
      method: outgoing.method,
      path: `${url.pathname}${url.search}`,
      headers: { "accept-encoding": "identity", ...outgoing.headers },
      body: outgoing.body,
      signal,
    });
    // Closing before everything was read is no failure of ours; whoever reads still learns of it.
    answer.body.on("error", () => undefined);
    return { status: answer.statusCode, headers: flat(answer.headers), body: answer.body, close };
  } catch (error) {
    close();
    throw error;
  }
}

function flat(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
}

async function readAnswer(opened: Opened, maxBodyBytes: number): Promise<GuardedResponse> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of opened.body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBodyBytes) break;
  }
  const { status, headers } = opened;
  const body = Buffer.concat(chunks).subarray(0, maxBodyBytes);
  return { status, headers, body, truncated: length > maxBodyBytes };
}

/** Statuses of which the web's `Response` knows that nothing follows. */
const WITHOUT_BODY = new Set([204, 205, 304]);

function responseOf(opened: Opened, method: string, maxBodyBytes: number): Response {
  const { status, headers } = opened;
  if (method === "HEAD" || WITHOUT_BODY.has(status)) {
    opened.close();
    return new Response(null, { status, headers });
  }
  return new Response(ReadableStream.from(limited(opened, maxBodyBytes)), { status, headers });
}

async function* limited(opened: Opened, maxBodyBytes: number): AsyncGenerator<Uint8Array> {
  let length = 0;
  try {
    for await (const chunk of opened.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > maxBodyBytes) throw new AnswerTooLarge(maxBodyBytes);
      yield chunk;
    }
  } finally {
    opened.close();
  }
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Where a tool keeps its secrets is its own affair, so everything stays behind that is not known to be harmless. */
function onlyHarmless(
  headers: Readonly<Record<string, string>>,
  harmless: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => harmless.includes(name.toLowerCase())),
  );
}
