/** Stands between a client and the transport, on a loopback port of its own, until it lets nothing through any more. */

import { createSocket, type Socket } from "node:dgram";

export class UdpRelay {
  readonly #outer = createSocket("udp4");
  #inner = createSocket("udp4");
  #serverPort = 0;
  #clientPort = 0;
  /** Packets from the client of which one in so many is lost; 0: none. */
  losesEvery = 0;
  isCut = false;
  #count = 0;

  /** @returns the port that clients send to */
  async open(serverPort: number): Promise<number> {
    this.#outer.on("message", (packet, { port }) => {
      this.#clientPort = port;
      this.#count += 1;
      // Of media alone: their first byte is 128 to 191 (RFC 7983).
      const isMedia = (packet[0] ?? 0) >= 128 && (packet[0] ?? 0) <= 191;
      if (isMedia && this.losesEvery > 0 && this.#count % this.losesEvery === 0) return;
      if (!this.isCut) this.#inner.send(packet, this.#serverPort, "127.0.0.1");
    });
    this.#serverPort = serverPort;
    await bound(this.#outer, "127.0.0.1");
    await this.#openInner("127.0.0.1");
    return this.#outer.address().port;
  }

  /** From now on the client comes from another address of the loopback, and what is sent to the old one is lost. */
  async move(address: string): Promise<void> {
    this.#inner.close();
    this.#inner = createSocket("udp4");
    await this.#openInner(address);
  }

  async #openInner(address: string): Promise<void> {
    this.#inner.on("message", (packet) => {
      if (!this.isCut && this.#clientPort > 0) this.#outer.send(packet, this.#clientPort, "127.0.0.1");
    });
    await bound(this.#inner, address);
  }

  close(): void {
    this.#outer.close();
    this.#inner.close();
  }
}

function bound(socket: Socket, address: string): Promise<void> {
  return new Promise((resolve) => {
    socket.bind(0, address, resolve);
  });
}
