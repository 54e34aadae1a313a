/** Refuses connections of addresses that have too many. */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { trustedBy } from "../net/trusted-proxies.ts";
import { ConnectionCounts, type Release } from "./connection-counts.ts";
import type { HttpDeps } from "./deps.ts";

/** Returns what ends the count of a connection before it is closed. */
export function limitConnections(
  server: Server,
  { settings, logger }: Pick<HttpDeps, "settings" | "logger">,
): (socket: Duplex) => void {
  const counts = new ConnectionCounts({
    maxPerAddress: settings.maxConnectionsPerAddress,
    isTrustedProxy: trustedBy(settings.trustedProxies),
  });
  const releases = new WeakMap<Duplex, Release>();
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    const release = counts.admit(remoteAddress);
    if (release !== null) {
      releases.set(socket, release);
      socket.once("close", release);
      return;
    }
    socket.destroy();
    const fields = { address: remoteAddress, setting: "MAX_CONNECTIONS_PER_ADDRESS" };
    logger.warn(fields, "a connection of an address with too many open ones was refused");
  });
  return (socket) => releases.get(socket)?.();
}
