/** TCP and TLS: listeners, and connections that are used again. */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createSecure, type Server as SecureServer } from "node:tls";
import type { Clock } from "../../../pacing/clock.ts";
import type { Hop, SendFailed } from "../transactions/wire.ts";
import type { SipSource } from "../user-agent.ts";
import { connectStream } from "./connect.ts";
import { ConnectionLimit, MAX_CONNECTIONS } from "./connection-limit.ts";
import { plainAddress, type Inbound, type StreamTransport, type TlsOptions } from "./inbound.ts";
import { StreamConnection } from "./stream-connection.ts";

interface StreamOptions extends Inbound {
  readonly clock: Clock;
  readonly bind: string;
  readonly port: number;
  readonly tls: TlsOptions | null;
}

interface Streams {
  readonly bound: readonly SipSource[];
  send(bytes: Buffer, hop: Hop, failed: SendFailed): void;
  isOpen(connection: number): boolean;
  close(): Promise<void>;
}

/** Of a new connection over TLS. */
const HANDSHAKE_LIMIT_MS = 5_000;

export async function openStreams(options: StreamOptions): Promise<Streams> {
  const pool = new StreamPool(options);
  const { bind, port, tls } = options;
  const servers: Server[] = [
    createServer((socket) => {
      if (pool.admits(socket)) pool.accept(socket, "tcp");
    }),
  ];
  const ports = [port];
  if (tls !== null && tls.certificate !== null && tls.key !== null) {
    const secure = secureServer(pool, { cert: tls.certificate, key: tls.key });
    // The source is counted before its handshake, which costs the most of a connection.
    const listener = createServer((socket) => {
      if (pool.admits(socket)) secure.emit("connection", socket);
    });
    servers.push(listener);
    ports.push(tls.port);
  }
  const bound: SipSource[] = [];
  try {
    for (const [index, server] of servers.entries()) {
      server.maxConnections = MAX_CONNECTIONS;
      bound.push(await listen(server, bind, ports[index] ?? 0, index === 0 ? "tcp" : "tls"));
    }
  } catch (error) {
    for (const server of servers) server.close();
    throw error;
  }
  return {
    bound,
    send: (bytes, hop, failed) => {
      pool.send(bytes, hop, failed);
    },
    isOpen: (connection) => pool.isOpen(connection),
    close: async () => {
      pool.close();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** It listens nowhere: connections are given to it. */
function secureServer(
  pool: StreamPool,
  files: { readonly cert: string; readonly key: string },
): SecureServer {
  const options = { ...files, minVersion: "TLSv1.2", handshakeTimeout: HANDSHAKE_LIMIT_MS } as const;
  const server = createSecure(options, (socket) => {
    pool.accept(socket, "tls");
  });
  // A handshake that fails: the socket is closed by the runtime.
  server.on("tlsClientError", () => undefined);
  return server;
}

async function listen(
  server: Server,
  host: string,
  port: number,
  transport: StreamTransport,
): Promise<SipSource> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  server.on("error", () => undefined);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the listener has no address");
  return { transport, address: address.address, port: address.port };
}

class StreamPool {
  readonly #options: StreamOptions;
  readonly #connections = new Map<number, StreamConnection>();
  /** Those that we have opened, by where they lead. */
  readonly #opened = new Map<string, StreamConnection>();
  readonly #limit = new ConnectionLimit();
  /** Of peers, with those whose handshake is under way. */
  readonly #inbound = new Set<Socket>();
  #lastId = 0;
  #isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  isOpen(id: number): boolean {
    return this.#connections.has(id);
  }

  /** False: a new connection of a peer was closed, because there are too many. */
  admits(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress ?? "");
    const isFull = this.#isClosed || this.#inbound.size >= MAX_CONNECTIONS;
    const leave =
      isFull || address === "" ? null : this.#limit.enter(address, this.#options.isKnown(address));
    if (leave === null) {
      socket.destroy();
      return false;
    }
    this.#inbound.add(socket);
    socket.once("close", () => {
      this.#inbound.delete(socket);
      leave();
    });
    return true;
  }

  accept(socket: Socket, transport: StreamTransport): void {
    const address = plainAddress(socket.remoteAddress ?? "");
    if (this.#isClosed || address === "") {
      socket.destroy();
      return;
    }
    this.#add({ transport, address, port: socket.remotePort ?? 0 }, null, socket);
  }

  send(bytes: Buffer, hop: Hop, failed: SendFailed): void {
    // The way back over a connection that is closed is not opened again: it leads to a port of the peer's choice.
    const connection = this.#find(hop) ?? (hop.connection === null ? this.#open(hop) : null);
    if (connection === null) queueMicrotask(() => failed());
    else connection.send(bytes, failed);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
    for (const socket of this.#inbound) socket.destroy();
  }

  #find(hop: Hop): StreamConnection | null {
    if (hop.connection !== null) {
      const own = this.#connections.get(hop.connection);
      if (own !== undefined) return own;
    }
    return this.#opened.get(keyOf(hop)) ?? null;
  }

  #open(hop: Hop): StreamConnection | null {
    const { transport } = hop;
    if (transport === "udp" || this.#isClosed || this.#connections.size >= MAX_CONNECTIONS) return null;
    const socket = connectStream(hop, this.#options.tls);
    return socket === null ? null : this.#add(hop, keyOf(hop), socket);
  }

  #add(source: SipSource, key: string | null, socket: Socket): StreamConnection {
    const id = (this.#lastId += 1);
    const { clock, admit, received } = this.#options;
    const { transport, address, port } = source;
    const connection = new StreamConnection({
      clock,
      socket,
      isOurs: key !== null,
      isSecure: transport === "tls",
      admit: () => admit(address),
      message: (bytes) => {
        received(bytes, { transport, address, port, connection: id, serverName: null });
      },
      closed: () => {
        this.#connections.delete(id);
        if (key !== null && this.#opened.get(key) === connection) this.#opened.delete(key);
      },
    });
    this.#connections.set(id, connection);
    if (key !== null) this.#opened.set(key, connection);
    return connection;
  }
}

function keyOf({ transport, address, port, serverName }: Hop): string {
  return `${transport} ${address} ${String(port)} ${serverName ?? ""}`;
}
