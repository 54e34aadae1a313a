/** TCP and TLS: listeners, and connections that are used again. */

import { createServer as createPlain, type Server, type Socket } from "node:net";
import { createServer as createSecure } from "node:tls";
import type { Clock } from "../../../pacing/clock.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipSource } from "../user-agent.ts";
import { connectStream } from "./connect.ts";
import { hasTooMany } from "./source-limit.ts";
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
  send(bytes: Buffer, hop: Hop, failed: () => void): void;
  isOpen(connection: number): boolean;
  close(): Promise<void>;
}

/** Connections in all: each may hold 98 KB of a message. */
const MAX_CONNECTIONS = 2_000;
/** Of a new connection over TLS, until it is one that counts for its source. */
const HANDSHAKE_LIMIT_MS = 5_000;

export async function openStreams(options: StreamOptions): Promise<Streams> {
  const pool = new StreamPool(options);
  const { bind, port, tls } = options;
  const servers: Server[] = [
    createPlain((socket) => {
      pool.accept(socket, "tcp");
    }),
  ];
  const ports = [port];
  if (tls !== null && tls.certificate !== null && tls.key !== null) {
    const secure = {
      cert: tls.certificate,
      key: tls.key,
      minVersion: "TLSv1.2" as const,
      handshakeTimeout: HANDSHAKE_LIMIT_MS,
    };
    const server = createSecure(secure, (socket) => {
      pool.accept(socket, "tls");
    });
    // A handshake that fails: the socket is closed by the runtime.
    server.on("tlsClientError", () => undefined);
    servers.push(server);
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

async function listen(
  server: Server,
  host: string,
  port: number,
  transport: StreamTransport,
): Promise<SipSource> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
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
  #lastId = 0;
  #isClosed = false;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  isOpen(id: number): boolean {
    return this.#connections.has(id);
  }

  accept(socket: Socket, transport: StreamTransport): void {
    const address = plainAddress(socket.remoteAddress ?? "");
    const isTooMany = !this.#options.isKnown(address) && hasTooMany(address, this.#connections.values());
    if (this.#isClosed || isTooMany || address === "" || this.#connections.size >= MAX_CONNECTIONS) {
      socket.destroy();
      return;
    }
    this.#add({ transport, address, port: socket.remotePort ?? 0 }, null, socket);
  }

  send(bytes: Buffer, hop: Hop, failed: () => void): void {
    // The way back over a connection that is closed is not opened again: it leads to a port of the peer's choice.
    const connection = this.#find(hop) ?? (hop.connection === null ? this.#open(hop) : null);
    if (connection === null) queueMicrotask(failed);
    else connection.send(bytes, failed);
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close();
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
      message: (bytes) => {
        if (!admit(address)) return;
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
