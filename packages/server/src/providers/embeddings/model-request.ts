/**
 * One request to a server of embeddings or rerankers: JSON there and back, with limits on time, size and attempts. Its
 * failures are sentences without keys and without the texts that were sent.
 */

import { setTimeout as wait } from "node:timers/promises";
import { readBoundedText } from "../../net/bounded-text.ts";
import { abortError } from "../../pacing/abort.ts";
import { backoffMs } from "../../pacing/backoff.ts";
import { EngineFailure, isPermanentStatus, networkErrorCode } from "../../ports/engine-failure.ts";

export interface ModelServer {
  /** For people, such as `embedding server`. */
  readonly name: string;
  readonly endpoint: URL;
  /** Sent as a bearer token; null for a server that needs none. */
  readonly apiKey: string | null;
  readonly fetch?: typeof fetch;
}

export interface ModelRequest {
  readonly body: object;
  /** Of one attempt, from the request to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly attempts: number;
}

/** A vector of 4,000 numbers takes 80 KB as text; a request has 32 texts at most. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Entries of an answer; a request has far fewer texts. */
const MAX_ENTRIES = 1_000;

/** For `z.preprocess`: a schema notes each wrong entry of a list, and an answer could have millions. */
export function shortList(value: unknown): unknown {
  return Array.isArray(value) && value.length <= MAX_ENTRIES ? value : undefined;
}

const WAITS = { firstMs: 500, longestMs: 8_000 };
/** A server may ask for a longer wait than the backoff; a job that waits longer is better started again. */
const LONGEST_ASKED_WAIT_MS = 30_000;
/** Too many requests, and failures of the server or of a proxy before it. */
const PASSING_STATUSES = new Set([408, 425, 429, 500, 502, 503, 504, 529]);

/**
 * @throws Error on a base URL that is not http(s) or contains a password, and on a key that no header can carry.
 */
export function modelServer(
  name: string,
  path: string,
  { baseUrl, apiKey, fetch }: { baseUrl: string; apiKey: string | null; fetch?: typeof globalThis.fetch },
): ModelServer {
  const endpoint = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (endpoint === null || !["http:", "https:"].includes(endpoint.protocol)) {
    throw new Error(`the base URL of the ${name} is not an http or https address`);
  }
  if (endpoint.username !== "" || endpoint.password !== "") {
    throw new Error(`the base URL of the ${name} contains a user or a password: set them as the API key`);
  }
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new Error(`the API key of the ${name} is empty or contains spaces or characters other than ASCII`);
  }
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, "")}${path}`;
  return { name, endpoint, apiKey, ...(fetch === undefined ? {} : { fetch }) };
}

/** The parsed answer. @throws EngineFailure; an `AbortError` when `signal` aborts */
export async function requestModel(
  server: ModelServer,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<unknown> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await attempt(server, request, signal);
    } catch (error) {
      if (signal.aborted) throw abortError();
      const waitMs = error instanceof PassingFailure ? error.waitMs : null;
      if (waitMs === null || failures + 1 >= request.attempts) throw error;
      // Up to twice the wait, at random, so that several nodes do not come back together.
      const pauseMs = Math.max(waitMs, backoffMs(WAITS, failures) * (1 + Math.random()));
      await wait(pauseMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw abortError();
    }
  }
}

/** Worth another attempt. */
class PassingFailure extends EngineFailure {
  /** What the server asked for; 0: nothing. */
  readonly waitMs: number;

  constructor(message: string, type: string | null, waitMs = 0) {
    super(message, { type });
    this.waitMs = waitMs;
  }
}

async function attempt(
  { name, endpoint, apiKey, fetch: send = fetch }: ModelServer,
  { body, timeoutMs }: ModelRequest,
  signal: AbortSignal,
): Promise<unknown> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(endpoint, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      // The key and the texts may go only to the configured address, so redirects are not followed.
      redirect: "error",
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await refusalOf(name, response);
    const text = await readBoundedText(response, MAX_ANSWER_BYTES);
    if (text === null) throw invalidAnswer(name, `is longer than ${String(MAX_ANSWER_BYTES)} bytes`);
    return parseJson(text);
  } catch (error) {
    if (signal.aborted) throw abortError();
    if (error instanceof EngineFailure) throw error;
    if (timeout.aborted) {
      throw new PassingFailure(`the ${name} did not answer within ${String(timeoutMs)} ms`, "timeout");
    }
    const code = networkErrorCode(error);
    throw new PassingFailure(`the ${name} cannot be reached: ${code ?? "the connection failed"}`, code);
  }
}

export function invalidAnswer(name: string, how: string): EngineFailure {
  return new EngineFailure(`the answer of the ${name} ${how}`, { type: "invalid_answer" });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: no schema matches it, which the caller reports.
  }
}

/** Only the status: servers quote texts and keys in their messages. */
async function refusalOf(name: string, response: Response): Promise<EngineFailure> {
  const { status, headers } = response;
  await response.body?.cancel();
  if (status === 401 || status === 403) {
    const message = `the ${name} does not accept the API key (${String(status)})`;
    return new EngineFailure(message, { isPermanent: true, type: String(status) });
  }
  const message = `the ${name} answered ${String(status)}`;
  if (PASSING_STATUSES.has(status)) {
    const asked = Number(headers.get("retry-after") ?? "0") * 1_000;
    const waitMs = Number.isFinite(asked) ? Math.min(Math.max(asked, 0), LONGEST_ASKED_WAIT_MS) : 0;
    return new PassingFailure(message, String(status), waitMs);
  }
  return new EngineFailure(message, { isPermanent: isPermanentStatus(status), type: String(status) });
}
