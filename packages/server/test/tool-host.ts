/** Test servers for tools: an HTTP server and a websocket server on 127.0.0.1 that record what they receive. */

import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

export interface ToolRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ToolReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly afterMs?: number;
}

export interface ToolHost {
  readonly httpUrl: string;
  readonly wsUrl: string;
  readonly requests: ToolRequest[];
  /** Text frames of all websockets, parsed. */
  readonly messages: Readonly<Record<string, unknown>>[];
  readonly sockets: WebSocket[];
  /** Binary frames of all websockets. */
  readonly audio: Buffer[];
  close(): Promise<void>;
}

export async function openToolHost(answer: (request: ToolRequest) => ToolReply): Promise<ToolHost> {
  const requests: ToolRequest[] = [];
  const messages: Readonly<Record<string, unknown>>[] = [];
  const audio: Buffer[] = [];
  const sockets: WebSocket[] = [];
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method = "", url: path = "", headers } = request;
      const got = { method, path, headers, body: Buffer.concat(parts).toString("utf8") };
      requests.push(got);
      const reply = answer(got);
      setTimeout(() => {
        response.writeHead(reply.status ?? 200, { "content-type": "text/plain", ...reply.headers });
        response.end(reply.body ?? "");
      }, reply.afterMs ?? 0);
    });
  });
  const websockets = new WebSocketServer({ server });
  websockets.on("connection", (socket) => {
    sockets.push(socket);
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) audio.push(data);
      else messages.push(JSON.parse(data.toString("utf8")) as Record<string, unknown>);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const at = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  return {
    httpUrl: `http://${at}`,
    wsUrl: `ws://${at}`,
    requests,
    messages,
    sockets,
    audio,
    async close() {
      for (const socket of websockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
