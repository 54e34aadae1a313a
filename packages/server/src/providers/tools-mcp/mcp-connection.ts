/**
 * Connections to MCP servers. A connection is either opened for one exchange and closed after it, or pooled: the
 * connections of calls stay open between invocations.
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
  /** Limit of the whole exchange, without the closing of the connection. */
  readonly timeoutMs: number;
  /** Limit of the answers: of each one on a pooled connection, otherwise of all together. */
  readonly maxBytes: number;
}

export interface Use<T> {
  (client: Client, options: { readonly signal: AbortSignal; readonly timeout: number }): Promise<T>;
}

export interface PooledUse {
  /** Key of the connection. Callers with the same key share the session that the server has stored. */
  readonly owner: string;
  /** Sent only with the requests of this use. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Limit of pooled connections: two servers for each of 100 calls. Beyond it the one that was idle longest is closed.
 */
export const MAX_POOLED = 256;
/** A tool that a conversation uses again is mostly used again within a minute. */
export const POOLED_IDLE_MS = 60_000;
/** The library's own timeout must not come first: its error says less. */
const LIBRARY_TIMEOUT_MARGIN_MS = 5_000;

interface PooledConnection {
  readonly opened: OpenClient;
  readonly ready: Promise<void>;
  /** Cancels the connecting. */
  readonly stop: AbortController;
  users: number;
  /** True once it has answered a request. */
  used: boolean;
  /** True: it is closed when its last user has finished. */
  broken: boolean;
  closed: boolean;
  idle: NodeJS.Timeout | null;
}

type Act<T> = (either: AbortSignal, timeout: number, exceeded: AnswerLimit["exceeded"]) => Promise<T>;

export class McpConnections {
  readonly #guarded: GuardedClient;
  readonly #idleMs: number;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  readonly #leaving = new Set<Promise<void>>();
  /** In the order of their last use. */
  readonly #pooled = new Map<string, PooledConnection>();

  constructor(guarded: GuardedClient, idleMs = POOLED_IDLE_MS) {
    this.#guarded = guarded;
    this.#idleMs = idleMs;
  }

  /** Number of pooled connections. */
  get pooled(): number {
    return this.#pooled.size;
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

  /** Like `exchange`, over the pooled connection of the owner, which is opened if there is none. */
  pooledExchange<T>(
    server: McpServer,
    limits: ExchangeLimits,
    signal: AbortSignal,
    { owner, headers }: PooledUse,
    use: Use<T>,
  ): Promise<T> {
    const key = JSON.stringify([owner, server.url, Object.entries(server.headers)]);
    return this.#within(limits, signal, (either, timeout) =>
      requestHeaders.run(headers, async () => {
        const options = { signal: either, timeout };
        const present = this.#pooled.get(key);
        const again = present?.used === true && !present.broken;
        try {
          return await this.#usePooled(
            key,
            present ?? this.#open(key, server, limits, timeout),
            options,
            use,
          );
        } catch (error) {
          // The server has forgotten the idle session, so it has not processed the request, and a retry is safe.
          const forgotten = again && error instanceof StreamableHTTPError && error.code === 404;
          if (!forgotten || either.aborted) throw error;
          return await this.#usePooled(key, this.#open(key, server, limits, timeout), options, use);
        }
      }),
    );
  }

  /** Cancels running exchanges, and waits until every connection is closed. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const [key, pooled] of this.#pooled) this.#drop(key, pooled);
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
      // The library wraps the reason of an abort in its own error.
      either.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #open(key: string, server: McpServer, { maxBytes }: ExchangeLimits, timeout: number): PooledConnection {
    const stop = new AbortController();
    const exceeded: AnswerLimit["exceeded"] = (error) => {
      // The answer cannot be assigned to a request, so all requests on this connection fail.
      pooled.broken = true;
      stop.abort(error);
    };
    const opened = openClient(this.#guarded, server, { maxBytes, of: "each", exceeded });
    const during = follow(stop.signal);
    const ready = opened.client
      .connect(opened.transport, { signal: during.signal, timeout })
      .finally(during.end);
    // Callers that wait get the error. Without any, it would be an unhandled rejection.
    ready.catch(() => undefined);
    const pooled: PooledConnection = {
      opened,
      ready,
      stop,
      users: 0,
      used: false,
      broken: false,
      closed: false,
      idle: null,
    };
    if (this.#makeRoom()) this.#pooled.set(key, pooled);
    else pooled.broken = true;
    return pooled;
  }

  /** False when every pooled connection is in use. */
  #makeRoom(): boolean {
    if (this.#pooled.size < MAX_POOLED) return true;
    const oldest = [...this.#pooled].find(([, { users }]) => users === 0);
    if (oldest === undefined) return false;
    this.#drop(...oldest);
    return true;
  }

  async #usePooled<T>(
    key: string,
    pooled: PooledConnection,
    options: { readonly signal: AbortSignal; readonly timeout: number },
    use: Use<T>,
  ): Promise<T> {
    pooled.users += 1;
    if (pooled.idle !== null) clearTimeout(pooled.idle);
    if (this.#pooled.get(key) === pooled) {
      this.#pooled.delete(key);
      this.#pooled.set(key, pooled);
    }
    const during = follow(AbortSignal.any([options.signal, pooled.stop.signal]));
    const { signal } = during;
    try {
      await abortable(pooled.ready, signal);
      const result = await use(pooled.opened.client, { ...options, signal });
      pooled.used = true;
      return result;
    } catch (error) {
      // An error of the protocol is a complete answer. After any other error the state of the connection is unknown.
      if (signal.aborted || !(error instanceof McpError)) pooled.broken = true;
      if (!options.signal.aborted) pooled.stop.signal.throwIfAborted();
      throw error;
    } finally {
      during.end();
      pooled.users -= 1;
      this.#rest(key, pooled);
    }
  }

  #rest(key: string, pooled: PooledConnection): void {
    if (pooled.broken && this.#pooled.get(key) === pooled) this.#pooled.delete(key);
    if (pooled.users > 0) return;
    if (pooled.broken) {
      this.#drop(key, pooled);
      return;
    }
    pooled.idle = setTimeout(() => {
      this.#drop(key, pooled);
    }, this.#idleMs).unref();
  }

  #drop(key: string, pooled: PooledConnection): void {
    if (this.#pooled.get(key) === pooled) this.#pooled.delete(key);
    if (pooled.idle !== null) clearTimeout(pooled.idle);
    if (pooled.closed) return;
    pooled.closed = true;
    pooled.stop.abort();
    this.#leave(pooled.opened);
  }

  #leave(opened: OpenClient): void {
    const leaving = leave(opened).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

/**
 * Aborts with another until its end: the library notifies the server of an abort even when the request is long over.
 */
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
