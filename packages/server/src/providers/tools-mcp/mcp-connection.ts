/**
 * Connections to MCP servers: one that is opened for an exchange and left again, and those of calls, which stay open from
 * one invocation to the next.
 */

import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import {
  leave,
  openClient,
  requestHeaders,
  type AnswerLimit,
  type Client,
  type McpServer,
  type OpenClient,
} from "./mcp-client.ts";

export interface ExchangeLimits {
  /** For the whole exchange, but for leaving. */
  readonly timeoutMs: number;
  /** Bytes of the answers: of each one while a connection is kept, else of all together. */
  readonly maxBytes: number;
}

export interface Use<T> {
  (client: Client, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<T>;
}

export interface KeptUse {
  /** What one caller's connection is found by: whoever shares it shares what the server remembers. */
  readonly owner: string;
  /** Sent with the requests of this use alone. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Connections that stay open; with 100 calls two servers each. Beyond it the one that was idle longest goes. */
export const KEPT_MAX = 256;
/** A tool that is asked for again within a conversation is so within a minute, mostly. */
export const KEPT_IDLE_MS = 60_000;
/** The library's own timeout must not be the first; what it throws says less. */
const LIBRARY_TIMEOUT_MARGIN_MS = 5_000;

interface Kept {
  readonly opened: OpenClient;
  readonly ready: Promise<void>;
  /** Ends the connecting. */
  readonly stop: AbortController;
  users: number;
  /** Has answered something. */
  used: boolean;
  /** Goes with its last user. */
  broken: boolean;
  left: boolean;
  idle: NodeJS.Timeout | null;
}

type Act<T> = (either: AbortSignal, timeout: number, exceeded: AnswerLimit["exceeded"]) => Promise<T>;

export class McpConnections {
  readonly #guarded: GuardedClient;
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #leaving = new Set<Promise<void>>();
  /** The latest used last. */
  readonly #kept = new Map<string, Kept>();

  constructor(guarded: GuardedClient, idleMs = KEPT_IDLE_MS) {
    this.#guarded = guarded;
    this.#idleMs = idleMs;
  }

  /** Those that are open and not on their way out. */
  get kept(): number {
    return this.#kept.size;
  }

  /** @throws RequestTimedOut, AnswerTooLarge, what `signal` was aborted with, or what `use` throws */
  exchange<T>(server: McpServer, limits: ExchangeLimits, signal: AbortSignal, use: Use<T>): Promise<T> {
    return this.#within(limits, signal, async (either, timeout, exceeded) => {
      const opened = openClient(this.#guarded, server, { maxBytes: limits.maxBytes, of: "all", exceeded });
      try {
        await opened.client.connect(opened.transport, { signal: either, timeout });
        return await use(opened.client, { signal: either, timeout });
      } finally {
        this.#leave(opened);
      }
    });
  }

  /** The same over a connection that its owner has already, or that stays open for the owner's next use. */
  keptExchange<T>(
    server: McpServer,
    limits: ExchangeLimits,
    signal: AbortSignal,
    { owner, headers }: KeptUse,
    use: Use<T>,
  ): Promise<T> {
    const key = JSON.stringify([owner, server.url, Object.entries(server.headers)]);
    return this.#within(limits, signal, (either, timeout) =>
      requestHeaders.run(headers, async () => {
        const options = { signal: either, timeout };
        const present = this.#kept.get(key);
        const again = present?.used === true && !present.broken;
        try {
          return await this.#useKept(key, present ?? this.#open(key, server, limits, timeout), options, use);
        } catch (error) {
          // The server has forgotten a client that was idle, and so has not looked at the request.
          const forgotten = again && error instanceof StreamableHTTPError && error.code === 404;
          if (!forgotten || either.aborted) throw error;
          return await this.#useKept(key, this.#open(key, server, limits, timeout), options, use);
        }
      }),
    );
  }

  /** Ends what is under way, and waits until every server was left. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const [key, kept] of this.#kept) this.#drop(key, kept);
    await Promise.allSettled(this.#running);
    await Promise.all(this.#leaving);
  }

  async #within<T>(limits: ExchangeLimits, signal: AbortSignal, act: Act<T>): Promise<T> {
    const running = this.#withLimits(limits, signal, act);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async #withLimits<T>({ timeoutMs }: ExchangeLimits, signal: AbortSignal, act: Act<T>): Promise<T> {
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort(new RequestTimedOut(timeoutMs));
    }, timeoutMs);
    const either = AbortSignal.any([signal, this.#closing.signal, limit.signal]);
    try {
      either.throwIfAborted();
      return await act(either, timeoutMs + LIBRARY_TIMEOUT_MARGIN_MS, (error) => {
        limit.abort(error);
      });
    } catch (error) {
      // The library wraps the reason of an abort in an error of its own.
      either.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #open(key: string, server: McpServer, { maxBytes }: ExchangeLimits, timeout: number): Kept {
    const stop = new AbortController();
    const exceeded: AnswerLimit["exceeded"] = (error) => {
      // Whose answer it was does not show; all who wait on this connection are told.
      kept.broken = true;
      stop.abort(error);
    };
    const opened = openClient(this.#guarded, server, { maxBytes, of: "each", exceeded });
    const during = follow(stop.signal);
    const ready = opened.client
      .connect(opened.transport, { signal: during.signal, timeout })
      .finally(during.end);
    // Whoever waits for it is told; nobody may be waiting any more.
    ready.catch(() => undefined);
    const kept: Kept = { opened, ready, stop, users: 0, used: false, broken: false, left: false, idle: null };
    if (this.#makeRoom()) this.#kept.set(key, kept);
    else kept.broken = true;
    return kept;
  }

  /** False when every place is taken by a connection in use. */
  #makeRoom(): boolean {
    if (this.#kept.size < KEPT_MAX) return true;
    const oldest = [...this.#kept].find(([, { users }]) => users === 0);
    if (oldest === undefined) return false;
    this.#drop(...oldest);
    return true;
  }

  async #useKept<T>(
    key: string,
    kept: Kept,
    options: { readonly signal: AbortSignal; readonly timeout: number },
    use: Use<T>,
  ): Promise<T> {
    kept.users += 1;
    if (kept.idle !== null) clearTimeout(kept.idle);
    if (this.#kept.get(key) === kept) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
    }
    const during = follow(AbortSignal.any([options.signal, kept.stop.signal]));
    const { signal } = during;
    try {
      await abortable(kept.ready, signal);
      const result = await use(kept.opened.client, { ...options, signal });
      kept.used = true;
      return result;
    } catch (error) {
      // An error in words of the protocol is an answer like any other; after anything else nobody knows what still comes.
      if (signal.aborted || !(error instanceof McpError)) kept.broken = true;
      if (!options.signal.aborted) kept.stop.signal.throwIfAborted();
      throw error;
    } finally {
      during.end();
      kept.users -= 1;
      this.#rest(key, kept);
    }
  }

  #rest(key: string, kept: Kept): void {
    if (kept.broken && this.#kept.get(key) === kept) this.#kept.delete(key);
    if (kept.users > 0) return;
    if (kept.broken) {
      this.#drop(key, kept);
      return;
    }
    kept.idle = setTimeout(() => {
      this.#drop(key, kept);
    }, this.#idleMs).unref();
  }

  #drop(key: string, kept: Kept): void {
    if (this.#kept.get(key) === kept) this.#kept.delete(key);
    if (kept.idle !== null) clearTimeout(kept.idle);
    if (kept.left) return;
    kept.left = true;
    kept.stop.abort();
    this.#leave(kept.opened);
  }

  #leave(opened: OpenClient): void {
    const leaving = leave(opened).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

/** Aborts with another until its end: the library tells the server of an abort also when the request is long over. */
function follow(other: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const own = new AbortController();
  const abort = () => {
    own.abort(other.reason);
  };
  if (other.aborted) abort();
  other.addEventListener("abort", abort, { once: true });
  return {
    signal: own.signal,
    end: () => {
      other.removeEventListener("abort", abort);
    },
  };
}

function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    void promise.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}
