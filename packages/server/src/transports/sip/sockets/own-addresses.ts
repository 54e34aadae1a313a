/** The addresses that peers know this machine by: in Via, Contact and descriptions. */

import { isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/** Null: the family is not served. One of them is not null. */
export interface OwnAddresses {
  readonly ipv4: string | null;
  readonly ipv6: string | null;
}

/**
 * @param bind address of the sockets; `::` serves both families
 * @param announced address that peers send to, where it differs from the bound one. It counts for its own family
 */
export function ownAddresses(
  bind: string,
  announced: string | null,
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): OwnAddresses {
  const given = announced === null ? 0 : isIP(announced);
  const publicOne = (family: "IPv4" | "IPv6"): string | null => {
    const all = Object.values(interfaces).flatMap((addresses) => addresses ?? []);
    return (
      all.find((one) => !one.internal && one.family === family && !isLinkLocal(one.address))?.address ?? null
    );
  };
  if (bind === "::") {
    const ipv4 = given === 4 ? announced : publicOne("IPv4");
    const ipv6 = given === 6 ? announced : publicOne("IPv6");
    return ipv4 === null && ipv6 === null ? { ipv4: null, ipv6: "::1" } : { ipv4, ipv6 };
  }
  if (isIPv6(bind)) return { ipv4: null, ipv6: announced ?? bind };
  if (bind !== "0.0.0.0") return { ipv4: announced ?? bind, ipv6: null };
  return { ipv4: announced ?? publicOne("IPv4") ?? "127.0.0.1", ipv6: null };
}

/** Means nothing on another machine. */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab]/i.test(address);
}

/** Of the same family as the address of the peer, where there is one. */
export function addressTowards(peer: string, { ipv4, ipv6 }: OwnAddresses): string {
  const own = isIPv6(peer) ? (ipv6 ?? ipv4) : (ipv4 ?? ipv6);
  if (own === null) throw new Error("there is no address of ours");
  return own;
}
