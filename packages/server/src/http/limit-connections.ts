/** Refuses connections of addresses that have too many. */

import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { trustedBy } from "../net/trusted-proxies.ts";
import { ConnectionCounts, Refusals, type Release } from "./connection-counts.ts";
import type { HttpDeps } from "./deps.ts";

/** Returns what ends the count of a connection before it is closed. */
export function limitConnections(
  server: Server,
  { settings, logger, nowMs }: Pick<HttpDeps, "settings" | "logger" | "nowMs">,
): (socket: Duplex) => void {
  const counts = new ConnectionCounts({
    maxPerAddress: settings.maxConnectionsPerAddress,
    isTrustedProxy: trustedBy(settings.trustedProxies),
  });
  const releases = new WeakMap<Duplex, Release>();
  const refusals = new Refusals(nowMs);
  server.on("connection", (socket: Socket) => {
    const { remoteAddress = "" } = socket;
    const release = counts.admit(remoteAddress);
    if (release !== null) {
      releases.set(socket, release);
      socket.once("close", release);
      return;
    }
    socket.destroy();
    const count = refusals.count();
    const fields = { count, example: remoteAddress, setting: "MAX_CONNECTIONS_PER_ADDRESS" };
    if (count > 0) logger.warn(fields, "connections of addresses with too many open ones were refused");
  });
  return (socket) => releases.get(socket)?.();
}
