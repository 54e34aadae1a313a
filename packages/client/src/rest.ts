/** The REST API, typed by its operations. Works in browsers and in Node. */

import type { InputArguments, InputOf, Method, OutputOf, PagedPath, PathOf, RowOf } from "./operations.ts";
import { errorOf } from "./problem.ts";
import type { RequestOptions } from "./request-options.ts";

export interface RestOptions {
  /** The URL of the service, such as `https://voice.example`, without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** In a browser on another origin: sends the key in a header that all origins may use. Default: X-API-Key. */
  readonly keyHeader?: "X-API-Key" | "X-Unsafe-API-Key";
  /** Replaces the platform's `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Timeout of one request including its response; default 30 s. */
  readonly timeoutMs?: number;
}

export interface RestClient {
  /**
   * Calls an operation by its method and its path in the API reference:
   * `fetch("GET", "/api/agents/{agent_id}", { params: { agent_id } })`. Returns JSON as a value, nothing as undefined,
   * and audio or other files as a `Response`.
   * @throws ParleyError if the service refuses; the error of `fetch` if it cannot be reached or times out.
   */
  fetch<M extends Method, P extends PathOf<M>>(
    method: M,
    path: P,
    ...input: InputArguments<InputOf<M, P>>
  ): Promise<OutputOf<M, P>>;
  /** All rows of a list, read page by page on demand. */
  rows<P extends PagedPath>(
    path: P,
    ...input: InputArguments<InputOf<"GET", P>>
  ): AsyncGenerator<RowOf<P>, void, undefined>;
}

const DEFAULT_TIMEOUT_MS = 30_000;

interface AnyInput extends RequestOptions {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly form?: FormData;
}

export function createRestClient(options: RestOptions): RestClient {
  const { baseUrl, fetch: send = fetch, timeoutMs = DEFAULT_TIMEOUT_MS } = options;

  async function request(method: string, url: string, input: AnyInput): Promise<unknown> {
    const limit = AbortSignal.timeout(timeoutMs);
    const headers: Record<string, string> = { [options.keyHeader ?? "X-API-Key"]: options.apiKey };
    if (input.idempotencyKey !== undefined) headers["Idempotency-Key"] = input.idempotencyKey;
    if (input.operatorKey !== undefined) headers["X-Operator-Key"] = input.operatorKey;
    if (input.body !== undefined) headers["Content-Type"] = "application/json";
    const body = input.form ?? (input.body === undefined ? null : JSON.stringify(input.body));
    const response = await send(url, {
      method,
      headers,
      signal: input.signal === undefined ? limit : AbortSignal.any([input.signal, limit]),
      ...(body === null ? {} : { body }),
    });
    if (!response.ok) throw await errorOf(response);
    input.onHeaders?.(response.headers);
    if (response.status === 204) return undefined;
    return isJson(response) ? response.json() : response;
  }

  async function* rows(path: string, input: AnyInput = {}): AsyncGenerator<unknown, void, undefined> {
    const first = urlOf(baseUrl, path, input);
    for (let url: string | null = first; url !== null;) {
      const page = (await request("GET", url, input)) as { results: unknown[]; next: string | null };
      yield* page.results;
      // The link has the service's public URL, which a client inside a network may not reach.
      url = page.next === null ? null : `${first.split("?", 1)[0] ?? first}${new URL(page.next).search}`;
    }
  }

  // The types of both depend on method and path, which these loosely typed bodies cannot repeat.
  return {
    fetch: (method: string, path: string, input: AnyInput = {}) =>
      request(method, urlOf(baseUrl, path, input), input),
    rows,
  } as unknown as RestClient;
}

function isJson(response: Response): boolean {
  return /^application\/(?:[\w.-]+\+)?json\b/i.test(response.headers.get("content-type") ?? "");
}

/** The path with its parameters filled in, and the query. Lists repeat their name, maps are written `name.key`. */
function urlOf(baseUrl: string, path: string, { params = {}, query = {} }: AnyInput): string {
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => {
    const value = params[name];
    if (typeof value !== "string" && typeof value !== "number") throw new TypeError(`${path} needs ${name}.`);
    return encodeURIComponent(String(value));
  });
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) addParameter(parameters, name, value);
  const search = parameters.toString();
  return `${baseUrl}${filled}${search === "" ? "" : `?${search}`}`;
}

function addParameter(parameters: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) addParameter(parameters, name, item);
  } else if (typeof value === "object") {
    for (const [key, item] of Object.entries(value)) addParameter(parameters, `${name}.${key}`, item);
  } else if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    parameters.append(name, String(value));
  } else {
    throw new TypeError(`A query cannot hold ${typeof value} as ${name}.`);
  }
}
