/** The other side of a data connection on 127.0.0.1, and waits that pass when a test says so. */

import { createServer, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocketServer, type WebSocket } from "ws";
import type { DataConnectionOptions } from "../data-connection.ts";
import type { CreateConnection } from "../link.ts";

export const HANDSHAKE_LIMIT_MS = 10_000;
export const KEEPALIVE_MS = 15_000;

/** Waits that pass when the test says so. */
export class Waits {
  readonly requested: number[] = [];
  #running: { readonly delayMs: number; readonly fire: () => void }[] = [];

  readonly after: DataConnectionOptions["after"] = (delayMs, fire) => {
    const wait = { delayMs, fire };
    this.requested.push(delayMs);
    this.#running.push(wait);
    return () => {
      this.#running = this.#running.filter((other) => other !== wait);
    };
  };

  /** Those between attempts. */
  get retries(): number[] {
    return this.requested.filter((delayMs) => ![0, HANDSHAKE_LIMIT_MS, KEEPALIVE_MS].includes(delayMs));
  }

  isRunning(delayMs: number): boolean {
    return this.#running.some((wait) => wait.delayMs === delayMs);
  }

  get count(): number {
    return this.#running.length;
  }

  pass(delayMs: number): void {
    const wait = this.#running.find((other) => other.delayMs === delayMs);
    if (wait === undefined) throw new Error(`nothing waits ${String(delayMs)} ms`);
    this.#running = this.#running.filter((other) => other !== wait);
    wait.fire();
  }
}

/** The user's server. */
export class Peer {
  readonly requests: IncomingMessage[] = [];
  readonly sockets: WebSocket[] = [];
  readonly messages: unknown[] = [];
  readonly frames: Int16Array[] = [];
  readonly closeCodes: number[] = [];
  /** Null: accepts; a status: refuses with it; "never": does not answer. */
  refuses: number | "never" | null = null;
  readonly #http: Server = createServer();
  readonly #unanswered = new Set<Duplex>();
  readonly #accepting = new WebSocketServer({ noServer: true });

  constructor() {
    this.#http.on("upgrade", (request, socket, head) => {
      this.requests.push(request);
      this.#unanswered.add(socket);
      socket.on("close", () => this.#unanswered.delete(socket));
      if (this.refuses === "never") return;
      if (this.refuses !== null) {
        socket.end(
          `HTTP/1.1 ${String(this.refuses)} No\r\nLocation: ws://127.0.0.1:${String(this.port)}/other\r\nContent-Length: 0\r\n\r\n`,
        );
        return;
      }
      this.#accepting.handleUpgrade(request, socket, head, (accepted) => {
        this.sockets.push(accepted);
        accepted.on("message", (data: Buffer, isBinary) => {
          if (isBinary) this.frames.push(new Int16Array(Uint8Array.from(data).buffer));
          else this.messages.push(JSON.parse(data.toString("utf8")));
        });
        accepted.on("close", (code) => this.closeCodes.push(code));
        accepted.on("error", () => undefined);
      });
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#http.listen(0, "127.0.0.1", resolve);
    });
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get socket(): WebSocket {
    const socket = this.sockets.at(-1);
    if (socket === undefined) throw new Error("nobody has connected");
    return socket;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.terminate();
    for (const socket of this.#unanswered) socket.destroy();
    await new Promise((resolve) => {
      this.#http.close(resolve);
    });
  }
}

/** Goes to a port of this machine, whatever the URL says. */
export function directly(port: number): (url: string, signal: AbortSignal) => CreateConnection {
  return (_url, signal) => (_options, created) => {
    const socket = connect({ host: "127.0.0.1", port, signal });
    socket.once("error", (error) => {
      (created as (error: Error) => void)(error);
    });
    socket.once("connect", () => {
      created(null, socket);
    });
    return undefined;
  };
}
