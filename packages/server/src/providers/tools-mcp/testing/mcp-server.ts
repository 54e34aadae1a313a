/** A real MCP server on 127.0.0.1 for tests, built with the library's server side. */

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type ListToolsResult,
} from "@modelcontextprotocol/sdk/types.js";

export interface McpTestServerOptions {
  readonly list?: (cursor: string | undefined) => ListToolsResult;
  readonly run?: (
    name: string,
    given: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<CallToolResult> | CallToolResult;
  /** Answers as JSON instead of as a stream of events. */
  readonly json?: boolean;
  /** Stores sessions between requests. */
  readonly remembers?: boolean;
}

export interface McpTestServer {
  readonly url: string;
  /** HTTP requests so far, and the headers of each. */
  readonly requests: readonly { readonly method: string; readonly headers: IncomingMessage["headers"] }[];
  /** Tools that were run so far. */
  readonly runs: readonly string[];
  /** Number of stored sessions. */
  clients(): number;
  /** Deletes all sessions. */
  forget(): void;
  /** Resolves when the next tool begins to run. */
  begun(): Promise<void>;
  close(): Promise<void>;
}

const CLIENT_HEADER = "mcp-session-id";

export async function openMcpTestServer(options: McpTestServerOptions = {}): Promise<McpTestServer> {
  const requests: McpTestServer["requests"][number][] = [];
  const runs: string[] = [];
  const waiting: (() => void)[] = [];
  const clients = new Map<string, StreamableHTTPServerTransport>();

  const openServer = (): Server => {
    const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) =>
      options.list === undefined ? { tools: [] } : options.list(params?.cursor),
    );
    server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
      runs.push(params.name);
      for (const tell of waiting.splice(0)) tell();
      return options.run?.(params.name, params.arguments ?? {}, signal) ?? { content: [] };
    });
    return server;
  };
  const openTransport = async (): Promise<StreamableHTTPServerTransport> => {
    const json = { enableJsonResponse: options.json ?? false };
    const memory = {
      ...Object.fromEntries([["sessionIdGenerator", randomUUID]]),
      onsessioninitialized: (id: string) => void clients.set(id, transport),
      onsessionclosed: (id: string) => void clients.delete(id),
    };
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport(
      options.remembers === true ? { ...json, ...memory } : json,
    );
    await openServer().connect(transport);
    return transport;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ method: request.method ?? "", headers: request.headers });
    const id = String(request.headers[CLIENT_HEADER] ?? "");
    if (id !== "" && !clients.has(id)) {
      response.writeHead(404).end();
      return;
    }
    const transport = clients.get(id) ?? (await openTransport());
    await transport.handleRequest(request, response);
  };
  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/mcp`,
    requests,
    runs,
    clients: () => clients.size,
    forget: () => {
      clients.clear();
    },
    begun: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        http.close(() => {
          resolve();
        });
        http.closeAllConnections();
      }),
  };
}
