/**
 * One exchange with an MCP server over streamable HTTP: a connection is opened, used and left again.
 */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import { TargetRefused } from "../../net/target-url.ts";

export type { Client } from "@modelcontextprotocol/sdk/client/index.js";

export interface McpServer {
  readonly url: string;
  /** Sent with every request. Secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExchangeLimits {
  /** For the whole exchange, but for leaving. */
  readonly timeoutMs: number;
  /** Bytes of any one answer. */
  readonly maxAnswerBytes: number;
}

/** For telling the server that its part is over; nobody waits for it. */
const LEAVE_LIMIT_MS = 1_000;
/** The library's own timeout must not be the first; what it throws says less. */
const LIBRARY_TIMEOUT_MARGIN_MS = 5_000;

export class McpConnections {
  readonly #guarded: GuardedClient;
  readonly #closing = new AbortController();
  readonly #leaving = new Set<Promise<void>>();

  constructor(guarded: GuardedClient) {
    this.#guarded = guarded;
  }

  /** @throws RequestTimedOut, what `signal` was aborted with, or what `use` throws */
  async exchange<T>(
    server: McpServer,
    limits: ExchangeLimits,
    signal: AbortSignal,
    use: (client: Client, options: { readonly signal: AbortSignal; readonly timeout: number }) => Promise<T>,
  ): Promise<T> {
    const transport = this.#transport(server, limits.maxAnswerBytes);
    const client = openClient();
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort(new RequestTimedOut(limits.timeoutMs));
    }, limits.timeoutMs);
    const either = AbortSignal.any([signal, this.#closing.signal, limit.signal]);
    const options = { signal: either, timeout: limits.timeoutMs + LIBRARY_TIMEOUT_MARGIN_MS };
    try {
      either.throwIfAborted();
      await client.connect(transport, options);
      return await use(client, options);
    } catch (error) {
      // The library wraps the reason of an abort in an error of its own.
      either.throwIfAborted();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#leave(client, transport);
    }
  }

  /** Ends what is under way, and waits until every server was left. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#leaving);
  }

  #transport({ url, headers }: McpServer, maxAnswerBytes: number): StreamableHTTPClientTransport {
    return new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      // What was sent is not sent again, and no answer is fetched twice.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
      },
      fetch: (target, init) => {
        // A second stream for what the server says of its own accord: there is nothing that it could tell us.
        if (init?.method === "GET") return Promise.resolve(new Response(null, { status: 405 }));
        return this.#guarded.fetch(target, init, maxAnswerBytes);
      },
    });
  }

  #leave(client: Client, transport: StreamableHTTPClientTransport): void {
    const leaving = leave(client, transport).finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

function openClient(): Client {
  return new Client(
    { name: "parley", version: "1" },
    {
      capabilities: {},
      // Schemas of strangers are not compiled here; results go to a model, which reads them as they are.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
}

async function leave(client: Client, transport: StreamableHTTPClientTransport): Promise<void> {
  const limit = setTimeout(() => void client.close().catch(() => undefined), LEAVE_LIMIT_MS);
  try {
    await transport.terminateSession();
  } catch {
    // The server keeps what it remembers until it forgets it by itself.
  } finally {
    clearTimeout(limit);
    await client.close().catch(() => undefined);
  }
}

/** Short, and without anything that tells of the network behind. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestTimedOut || error instanceof TargetRefused) return error.message;
  if (error instanceof McpError) return error.message;
  if (error instanceof StreamableHTTPError && (error.code ?? 0) > 0) return `HTTP ${String(error.code)}`;
  return "connection failed";
}
