/** A local receiver of webhooks with scripted answers. */

import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The status to answer with, after which time; `hang`: no answer, `cut`: the connection is closed. */
export type Conduct = (received: Received) => number | "hang" | "cut" | Promise<number>;

export class Receiver {
  readonly received: Received[] = [];
  readonly url: string;
  readonly #server: Server;

  constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  events(path = "/"): string[] {
    return this.received.filter((one) => one.path === path).map(({ body }) => deliveryOf(body).event);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export interface Delivery {
  readonly event: string;
  readonly call: Readonly<Record<string, unknown>> & { readonly callId: string };
  readonly timestamp: string;
  readonly webhookId: string | null;
  readonly deliveryId: string;
  readonly test?: boolean;
}

export function deliveryOf(body: string): Delivery {
  return JSON.parse(body) as Delivery;
}

export async function openReceiver(
  conduct: Conduct,
  create: (listener: RequestListener) => Server = (listener) => createServer(listener),
): Promise<Receiver> {
  const server = create((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const one = { path: request.url ?? "", headers, body: Buffer.concat(chunks).toString() };
      receiver.received.push(one);
      void Promise.resolve(conduct(one)).then((status) => {
        if (status === "cut") response.destroy();
        else if (status !== "hang")
          response.writeHead(status, { location: "/elsewhere" }).end("x".repeat(10));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const receiver = new Receiver(server, `http://127.0.0.1:${String(port)}/`);
  return receiver;
}
