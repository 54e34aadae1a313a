/** A proxy on 127.0.0.1 that hands on what a server sends in pieces of a few bytes, so that every frame is split. */

import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

export interface SplitProxy {
  readonly baseUrl: string;
  /** Pieces that were handed on. */
  readonly pieces: number;
  close(): Promise<void>;
}

/** Each piece is written in a turn of the event loop of its own, so the client reads it alone. */
export async function openSplitProxy(port: number, pieceBytes: number): Promise<SplitProxy> {
  const sockets = new Set<Socket>();
  let pieces = 0;
  const handOn = async (client: Socket, server: Socket): Promise<void> => {
    for await (const bytes of server as AsyncIterable<Buffer>) {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        if (client.destroyed) return;
        client.write(bytes.subarray(at, at + pieceBytes));
        pieces += 1;
        await nextTurn();
      }
    }
    client.end();
  };
  const proxy = createServer({ noDelay: true }, (client) => {
    const server = connect(port, "127.0.0.1");
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      // Either side may break off.
      socket.on("error", () => undefined);
    }
    client.pipe(server);
    handOn(client, server).catch(() => client.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`,
    get pieces() {
      return pieces;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
