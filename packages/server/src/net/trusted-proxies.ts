/**
 * Which peers are proxies that the service believes. A proxy adds the address that it was reached from to
 * X-Forwarded-For; from any other peer the header is only a claim.
 */

import { BlockList, isIP } from "node:net";

/** Entries of the list; proxies stand in a few networks. */
const MAX_PROXIES = 200;

/** @throws Error with the rest of a sentence that begins with the name of the setting */
export function readTrustedProxies(text: string): string[] {
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length > MAX_PROXIES) throw new Error(`must list at most ${MAX_PROXIES} addresses and ranges`);
  for (const entry of entries) rangeOf(entry);
  return entries;
}

interface Range {
  readonly network: string;
  readonly prefixLength: number;
  readonly family: "ipv4" | "ipv6";
}

function rangeOf(entry: string): Range {
  const [network = "", length, ...rest] = entry.split("/");
  const version = network.includes("%") ? 0 : isIP(network);
  const bits = version === 4 ? 32 : 128;
  const prefixLength = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (version === 0 || rest.length > 0 || prefixLength < 0 || prefixLength > bits) {
    throw new Error(`must be a list of addresses and ranges such as 10.0.0.0/8: "${entry}" is not one`);
  }
  return { network, prefixLength, family: version === 4 ? "ipv4" : "ipv6" };
}

/** Whether an address, as a socket or a header writes it, is one of the proxies. Anything that is no address is not. */
export function trustedBy(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const { network, prefixLength, family } of proxies.map(rangeOf)) {
    trusted.addSubnet(network, prefixLength, family);
  }
  return (address) => {
    const [plain = ""] = address.split("%");
    const version = isIP(plain);
    return version !== 0 && trusted.check(plain, version === 4 ? "ipv4" : "ipv6");
  };
}
