/** Ports for programs that are peers in tests. */

import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

const ADDRESS = "127.0.0.1";
/** Below the ports that the system gives to connections, so that none of them takes it before the program does. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;

/** A port that is free for UDP and TCP. The next one is free for TCP: phones take it for TLS. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const datagrams = createSocket("udp4");
    const streams = [createServer(), createServer()];
    try {
      datagrams.bind(port, ADDRESS);
      await once(datagrams, "listening");
      for (const [index, stream] of streams.entries()) {
        stream.listen(port + index, ADDRESS);
        await once(stream, "listening");
      }
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    } finally {
      await Promise.all([datagrams, ...streams].map(closed));
    }
  }
}

function closed(socket: { close(done: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => {
    socket.close(() => {
      resolve();
    });
  });
}
