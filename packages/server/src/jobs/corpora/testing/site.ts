/** A web site on loopback whose pages a test writes. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface SitePage {
  readonly status?: number;
  readonly type?: string;
  readonly location?: string;
  readonly body?: string;
}

export interface Site {
  readonly url: string;
  readonly pages: Map<string, SitePage>;
  /** Paths in the order of the requests. */
  readonly requested: string[];
  close(): Promise<void>;
}

/** `make`: makes the pages that `pages` does not have; null: there is none. */
export async function openSite(make: (path: string) => SitePage | null = () => null): Promise<Site> {
  const pages = new Map<string, SitePage>();
  const requested: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requested.push(path);
    const {
      status = 200,
      type = "text/html",
      location,
      body = "",
    } = pages.get(path) ?? make(path) ?? { status: 404 };
    response.writeHead(status, { "content-type": type, ...(location === undefined ? {} : { location }) });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${String(port)}`,
    pages,
    requested,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
