/** The address of this process for the other nodes of a deployment: `http://10.0.0.5:8090`. */

import { isIP } from "node:net";

export interface NodeAddress {
  /** As the other nodes use it. */
  readonly hostname: string;
  /** 0: a free one, which the others learn. */
  readonly port: number;
  /** Where the internal listener listens: at an IP address of the machine; null: at all, because the host is a name. */
  readonly bind: string | null;
}

/** @throws an error whose message is the rest of a sentence that begins with the name of the setting. */
export function readNodeAddress(text: string): NodeAddress {
  const url = URL.parse(text);
  const hasMore = url === null || url.username !== "" || url.search !== "" || url.hash !== "";
  if (hasMore || url.protocol !== "http:" || url.pathname !== "/") {
    throw new Error("must be an http URL with a port and without a path, such as http://10.0.0.5:8090");
  }
  // URL leaves out the port 80.
  const port = /:(\d{1,5})\/?$/.exec(text)?.[1];
  if (port === undefined)
    throw new Error("must name the port of the internal listener, such as http://10.0.0.5:8090");
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  return { hostname: url.hostname, port: Number(port), bind: isIP(literal) === 0 ? null : literal };
}

/** As the other nodes use it. */
export function printNodeAddress({ hostname }: Pick<NodeAddress, "hostname">, port: number): string {
  return `http://${hostname}:${String(port)}`;
}
