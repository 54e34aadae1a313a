/** A vendor whose messages are lines, `id word`, and a pool of sockets to it. */

import { EngineFailure } from "../../../ports/engine-failure.ts";
import { collect, neverAborted } from "../../../ports/testing/collect.ts";
import { type Exchange, SocketPool, type SocketPoolOptions } from "../socket-pool.ts";
import { type SocketProtocol, type SocketTarget, socketUrl } from "../socket-protocol.ts";
import { ManualTimers } from "../../../ports/testing/manual-timers.ts";
import { openSocketServer, type ServerConnection, type SocketServerOptions } from "./socket-server.ts";

/** Of a request; passes only where a test says so. */
export const SILENCE_LIMIT_MS = 60_000;
const opened: { close(): Promise<void> }[] = [];

/** After each test. */
export async function closeLineVendors(): Promise<void> {
  for (const one of opened.splice(0).toReversed()) await one.close();
}

export const lineProtocol: SocketProtocol<string> = {
  read: (data) => {
    if (typeof data !== "string" || data.startsWith("{"))
      throw new Error(`not a line: ${String(data)} secret-key-1`);
    const [to = "", message = ""] = data.split(" ");
    if (to === "bye") return { lost: new EngineFailure(`Vendor said ${message}`, { type: message }) };
    return to === "all" ? { to: null, message } : { to, message };
  },
};

/** Says hello, and yields what comes until `end`. */
export const talk: Exchange<string, string> = {
  async *run(request) {
    request.send(`${request.id} hello`);
    for (;;) {
      const message = await request.next(SILENCE_LIMIT_MS);
      if (message === "end") return;
      yield message;
    }
  },
};

export type Answer = (id: string, word: string, connection: ServerConnection, index: number) => void;

/** Answers each line of a request; `index` counts the connections. */
export async function openLineVendor(
  answer: Answer,
  options: Partial<SocketPoolOptions> = {},
  server: SocketServerOptions = {},
) {
  let count = 0;
  const vendor = await openSocketServer({
    ...server,
    connected: (connection) => {
      server.connected?.(connection);
      const index = count;
      count += 1;
      connection.socket.on("message", (data: Buffer) => {
        const [id = "", word = ""] = data.toString().split(" ");
        answer(id, word, connection, index);
      });
    },
  });
  const log: string[] = [];
  const timers = new ManualTimers();
  const pool = new SocketPool<string>({
    vendor: "Vendor",
    log: (message) => log.push(message),
    requestsPerSocket: 2,
    socketsPerTarget: 2,
    idleLimitMs: 30_000,
    timers,
    ...options,
  });
  opened.push(vendor, pool);
  const target: SocketTarget<string> = {
    url: socketUrl(vendor.baseUrl, "/speak"),
    headers: { "x-api-key": "secret-key-1" },
    secrets: ["secret-key-1"],
    protocol: lineProtocol,
  };
  const ask = (exchange = talk, signal = neverAborted(), on = target) =>
    collect(pool.request(on, exchange, signal));
  return { vendor, pool, timers, log, target, ask };
}

/** Says the word again. */
export const echo: Answer = (id, word, { socket }) => {
  socket.send(`${id} ${word}`);
  socket.send(`${id} end`);
};
