/** A websocket server on 127.0.0.1 for fakes of vendors. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";

export interface UpgradeRefusal {
  readonly status: number;
  readonly body: string;
}

export interface SocketServerParts {
  /** Null: accepts. "never": does not answer. */
  readonly refuse: (request: IncomingMessage, url: URL) => UpgradeRefusal | "never" | null;
  readonly accepted: (socket: WebSocket, url: URL) => void;
}

export interface SocketServer {
  /** `http://127.0.0.1:PORT` */
  readonly baseUrl: string;
  readonly sockets: ReadonlySet<WebSocket>;
  /** Upgrade requests, refused ones included. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export async function openSocketServer({ refuse, accepted }: SocketServerParts): Promise<SocketServer> {
  const http = createServer((_request, response) => response.writeHead(426).end());
  const upgrades = new WebSocketServer({ noServer: true });
  const sockets = new Set<WebSocket>();
  const streams = new Set<Duplex>();
  const requests: string[] = [];
  http.on("upgrade", (request, stream, head) => {
    streams.add(stream);
    stream.on("close", () => streams.delete(stream));
    stream.on("error", () => undefined);
    const url = new URL(request.url ?? "/", "ws://127.0.0.1");
    requests.push(request.url ?? "");
    const refusal = refuse(request, url);
    if (refusal === "never") return;
    if (refusal !== null) {
      const length = String(Buffer.byteLength(refusal.body));
      stream.end(
        `HTTP/1.1 ${String(refusal.status)} No\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${refusal.body}`,
      );
      return;
    }
    upgrades.handleUpgrade(request, stream, head, (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => undefined);
      accepted(socket, url);
    });
  });
  await new Promise<void>((resolve) => {
    http.listen(0, "127.0.0.1", resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}`,
    sockets,
    requests,
    close: async () => {
      for (const stream of streams) stream.destroy();
      upgrades.close();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** Sends a text as one message in frames of one character each. */
export function sendInPieces(socket: WebSocket, text: string): void {
  const pieces = Array.from(text);
  for (const [index, piece] of pieces.entries()) {
    socket.send(piece, { fin: index === pieces.length - 1, binary: false });
  }
}
