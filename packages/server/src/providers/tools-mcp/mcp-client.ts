/** A client of an MCP server over streamable HTTP, and the closing of its session. */

import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { AnswerTooLarge, RequestTimedOut, type GuardedClient } from "../../net/guarded-fetch.ts";
import { TargetRefused } from "../../net/target-url.ts";

export type { Client } from "@modelcontextprotocol/sdk/client/index.js";

export interface McpServer {
  readonly url: string;
  /** Sent with every request. May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface AnswerLimit {
  /** Limit of bytes of any one answer, or of all answers together. */
  readonly maxBytes: number;
  readonly of: "each" | "all";
  /** Called when an answer exceeds the limit; the library does not always report it to the caller. */
  readonly exceeded: (error: AnswerTooLarge) => void;
}

/** Headers of the requests that are started within `run`, in addition to those of the server. */
export const requestHeaders = new AsyncLocalStorage<Readonly<Record<string, string>>>();

/** Limit of the request that ends the session; no call waits for it. */
const LEAVE_LIMIT_MS = 1_000;

export interface OpenClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** Not connected yet: `client.connect(transport)` does that. */
export function openClient(
  guarded: GuardedClient,
  { url, headers }: McpServer,
  limit: AnswerLimit,
): OpenClient {
  let restBytes = limit.maxBytes;
  const read = (bytes: number) => {
    if (limit.of === "all") restBytes -= bytes;
  };
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    // Nothing is sent twice, and no answer is fetched twice.
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
    fetch: async (target, init) => {
      // Refuses a second stream for messages that the server sends unrequested: the service uses none of them.
      if (init?.method === "GET") return new Response(null, { status: 405 });
      const sent = new Headers(init?.headers);
      for (const [name, value] of Object.entries(requestHeaders.getStore() ?? {})) sent.set(name, value);
      const response = await guarded.fetch(target, { ...init, headers: sent }, restBytes);
      return watched(response, read, limit.exceeded);
    },
  });
  const client = new Client(
    { name: "parley", version: "1" },
    {
      capabilities: {},
      // Schemas of other servers are not compiled here; results go to a model, which reads them unchanged.
      jsonSchemaValidator: {
        getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
    },
  );
  return { client, transport };
}

function watched(
  response: Response,
  read: (bytes: number) => void,
  exceeded: AnswerLimit["exceeded"],
): Response {
  const { body, status, headers } = response;
  if (body === null) return response;
  return new Response(ReadableStream.from(watchedBody(body, read, exceeded)), { status, headers });
}

async function* watchedBody(
  body: ReadableStream<Uint8Array>,
  read: (bytes: number) => void,
  exceeded: AnswerLimit["exceeded"],
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) {
      read(chunk.length);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AnswerTooLarge) exceeded(error);
    throw error;
  }
}

/** Never rejects. */
export async function leave({ client, transport }: OpenClient): Promise<void> {
  const limit = setTimeout(() => void client.close().catch(() => undefined), LEAVE_LIMIT_MS);
  try {
    await transport.terminateSession();
  } catch {
    // The server deletes the session after its own timeout.
  } finally {
    clearTimeout(limit);
    await client.close().catch(() => undefined);
  }
}

/** Short, and without anything that reveals the network behind it. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestTimedOut || error instanceof TargetRefused) return error.message;
  if (error instanceof McpError || error instanceof AnswerTooLarge) return error.message;
  if (error instanceof StreamableHTTPError && (error.code ?? 0) > 0) return `HTTP ${String(error.code)}`;
  return "connection failed";
}
