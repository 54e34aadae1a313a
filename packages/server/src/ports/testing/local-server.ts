/** A small HTTP server on 127.0.0.1 that fakes a model or voice server, working or faulty, in a test. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface LocalRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface LocalServer {
  /** `http://127.0.0.1:port/v1` */
  readonly baseUrl: string;
  /** All requests so far. */
  readonly requests: readonly LocalRequest[];
  /** Resolves when the next request has been read. */
  requested(): Promise<LocalRequest>;
  /** Resolves when the next connection is lost before the answer to its request was complete. */
  hungUp(): Promise<void>;
  /** Breaks open connections off. Idempotent. */
  close(): Promise<void>;
}

export type LocalHandler = (request: LocalRequest, response: ServerResponse) => void | Promise<void>;

/** Limits what a test may send. */
const MAX_BODY_CHARS = 1_048_576;

/** Resolves when it listens. A handler that throws breaks the connection off. */
export async function openLocalServer(handler: LocalHandler): Promise<LocalServer> {
  const requests: LocalRequest[] = [];
  const requestWaiters: ((request: LocalRequest) => void)[] = [];
  const hungUpWaiters: (() => void)[] = [];
  const server = createServer((incoming, response) => {
    response.on("close", () => {
      if (!response.writableFinished) for (const waiter of hungUpWaiters.splice(0)) waiter();
    });
    const answer = async (): Promise<void> => {
      let body = "";
      for await (const chunk of incoming.setEncoding("utf8")) {
        body += String(chunk);
        if (body.length > MAX_BODY_CHARS) throw new Error("the test sent too much");
      }
      const { method = "", url: path = "", headers } = incoming;
      const request = { method, path, headers, body };
      requests.push(request);
      for (const waiter of requestWaiters.splice(0)) waiter(request);
      await handler(request, response);
    };
    answer().catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  // On a busy machine a client may use a connection again in the moment in which the server would close it.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${String(port)}/v1`,
    requests,
    requested: () => new Promise((resolve) => requestWaiters.push(resolve)),
    hungUp: () => new Promise((resolve) => hungUpWaiters.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
