/** Connections that we open. The address has passed the filter (`locate`). */

import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure, getCACertificates } from "node:tls";
import type { Hop } from "../transactions/wire.ts";
import type { TlsOptions } from "./inbound.ts";

/** Null: TLS is not enabled. The certificate must be valid for the name of the URI (RFC 5922). */
export function connectStream(
  { transport, address, port, serverName }: Hop,
  tls: TlsOptions | null,
): Socket | null {
  if (transport === "tcp") return connectPlain({ host: address, port });
  if (tls === null) return null;
  return connectSecure({
    host: address,
    port,
    minVersion: "TLSv1.2",
    // Stated, so that no variable of the environment switches the check off.
    rejectUnauthorized: true,
    ...(serverName === null ? {} : { servername: serverName }),
    ...(tls.authorities === undefined ? {} : { ca: [...getCACertificates("default"), tls.authorities] }),
  });
}
