/** A websocket server on 127.0.0.1 that a fake vendor is built on. It can misbehave below the level of messages. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { WebSocketServer, type WebSocket } from "ws";

/** How an upgrade is answered: accepted, refused with a status, not at all, or by bytes of the test's own. */
export type UpgradeAnswer =
  | "accept"
  | "hang"
  | {
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** The body stays open. */
      readonly isEndless?: boolean;
    }
  | { readonly raw: (socket: Socket) => void };

export interface ServerConnection {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  /** The bytes under the messages. */
  readonly tcp: Socket;
}

export interface SocketServerOptions {
  readonly upgrade?: (request: IncomingMessage) => UpgradeAnswer;
  readonly connected?: (connection: ServerConnection) => void;
}

export interface SocketServer {
  /** `http://127.0.0.1:port` */
  readonly baseUrl: string;
  /** All upgrade requests so far, refused ones too. */
  readonly requests: readonly IncomingMessage[];
  /** All accepted connections so far. */
  readonly connections: readonly ServerConnection[];
  /** Connections that are open. */
  readonly openCount: number;
  /** Codes of the closes so far, in their order. */
  readonly closeCodes: readonly number[];
  /** Breaks all connections off. Idempotent. */
  close(): Promise<void>;
}

export const JSON_TYPE = { "Content-Type": "application/json" } as const;

/** Limits what a test may send in one message. */
const MAX_PAYLOAD_BYTES = 16 * 1_024 * 1_024;

export async function openSocketServer(options: SocketServerOptions = {}): Promise<SocketServer> {
  const requests: IncomingMessage[] = [];
  const connections: ServerConnection[] = [];
  const closeCodes: number[] = [];
  const raw = new Set<Socket>();
  const http = createServer((_request, response) => response.writeHead(426).end());
  const accepting = new WebSocketServer({ noServer: true, maxPayload: MAX_PAYLOAD_BYTES });
  http.on("upgrade", (request, duplex, head) => {
    const tcp = duplex as Socket;
    requests.push(request);
    raw.add(tcp);
    tcp.on("close", () => raw.delete(tcp));
    tcp.on("error", () => undefined);
    const answer = options.upgrade?.(request) ?? "accept";
    if (answer === "hang") return;
    if (answer !== "accept") {
      if ("raw" in answer) answer.raw(tcp);
      else refuse(tcp, answer);
      return;
    }
    accepting.handleUpgrade(request, tcp, head, (socket) => {
      const connection = { socket, request, tcp };
      connections.push(connection);
      socket.on("error", () => undefined);
      socket.on("close", (code) => closeCodes.push(code));
      options.connected?.(connection);
    });
  });
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(0, "127.0.0.1", resolve);
  });
  const { port } = http.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}`,
    requests,
    connections,
    get openCount() {
      return connections.filter(({ socket }) => socket.readyState === socket.OPEN).length;
    },
    closeCodes,
    close: () =>
      new Promise((resolve) => {
        for (const tcp of raw) tcp.destroy();
        http.close(() => {
          resolve();
        });
        http.closeAllConnections();
      }),
  };
}

function refuse(tcp: Socket, answer: Exclude<UpgradeAnswer, string | { raw: unknown }>): void {
  const { status, body = "", headers = {}, isEndless = false } = answer;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = isEndless ? "" : `Content-Length: ${String(Buffer.byteLength(body))}\r\n`;
  tcp.write(`HTTP/1.1 ${String(status)} No\r\n${lines.join("")}${length}\r\n${body}`);
  if (!isEndless) tcp.end();
}

/** A text frame of a server, as bytes (RFC 6455, 5.2). */
export function textFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const header =
    body.length < 126
      ? Buffer.of(0x81, body.length)
      : Buffer.of(0x81, 126, body.length >> 8, body.length & 0xff);
  return Buffer.concat([header, body]);
}

/** Sends a text as one message in frames of one character each. */
export function sendInFragments(socket: WebSocket, text: string): void {
  const pieces = Array.from(text);
  for (const [index, piece] of pieces.entries()) {
    socket.send(piece, { fin: index === pieces.length - 1, binary: false });
  }
}

/** The address that a client asked for. */
export function urlOf(request: IncomingMessage): URL {
  return new URL(request.url ?? "/", "ws://127.0.0.1");
}

/** Bytes at both ends of a frame that are sent one by one, and the size of the pieces between. */
const SINGLE_BYTES = 64;
const PIECE_BYTES = 97;

/** Sends a text message in small pieces, as a slow network may: its header and its ends byte by byte. */
export function sendInPieces({ tcp }: ServerConnection, text: string): void {
  const frame = textFrame(text);
  tcp.setNoDelay(true);
  for (let at = 0; at < frame.length;) {
    const isInside = at >= SINGLE_BYTES && at + PIECE_BYTES + SINGLE_BYTES <= frame.length;
    const end = at + (isInside ? PIECE_BYTES : 1);
    tcp.write(frame.subarray(at, end));
    at = end;
  }
}
