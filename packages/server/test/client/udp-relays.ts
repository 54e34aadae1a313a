/** UDP relays through this process, so that a test can cut them: each stands for a port of the service. */

import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

export interface UdpRelays {
  /** The relay port for this port of the service, for one browser connection. */
  to(port: number): Promise<number>;
  /** Blocks all traffic on existing and new relays. */
  cut(): void;
  /** Passes all traffic on new relays; those that were cut stay cut. */
  open(): void;
  close(): Promise<void>;
}

interface Way {
  readonly sockets: readonly Socket[];
  isCut: boolean;
}

export function openUdpRelays(): UdpRelays {
  const ways: Way[] = [];
  let isCut = false;
  return {
    to: async (port) => {
      const outer = createSocket("udp4");
      const inner = createSocket("udp4");
      const way: Way = { sockets: [outer, inner], isCut };
      ways.push(way);
      let client: { readonly address: string; readonly port: number } | null = null;
      outer.on("message", (packet, from) => {
        client = from;
        if (!way.isCut) inner.send(packet, port, "127.0.0.1");
      });
      inner.on("message", (packet) => {
        if (client !== null && !way.isCut) outer.send(packet, client.port, client.address);
      });
      outer.bind(0, "127.0.0.1");
      inner.bind(0, "127.0.0.1");
      await Promise.all([once(outer, "listening"), once(inner, "listening")]);
      return outer.address().port;
    },
    cut: () => {
      isCut = true;
      for (const way of ways) way.isCut = true;
    },
    open: () => {
      isCut = false;
    },
    close: async () => {
      const sockets = ways.splice(0).flatMap((way) => way.sockets);
      await Promise.all(
        sockets.map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))),
      );
    },
  };
}
