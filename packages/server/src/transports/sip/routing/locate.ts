/** From a URI to addresses (RFC 3263): NAPTR, SRV, addresses. The DNS is a parameter. */

import { isIP } from "node:net";
import { addressAllowed, portAllowed, type AllowedTargets } from "../../../net/address-filter.ts";
import { TargetRefused, ADDRESS_NOT_ALLOWED, hostAllowed } from "../../../net/target-url.ts";
import type { SipUri } from "../message/uri.ts";
import type { Hop } from "../transactions/wire.ts";
import type { SipTransportName } from "../user-agent.ts";

export interface NaptrRecord {
  readonly flags: string;
  /** Such as `SIP+D2U`. */
  readonly protocol: string;
  readonly order: number;
  readonly preference: number;
  readonly replacement: string;
}

export interface SrvRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

/** Each answers with an empty list for a name without such records. @throws when the DNS does not answer */
export interface SipDns {
  naptr(name: string): Promise<readonly NaptrRecord[]>;
  srv(name: string): Promise<readonly SrvRecord[]>;
  addresses(name: string): Promise<readonly string[]>;
}

export interface LocateOptions {
  readonly dns: SipDns;
  readonly allowed: AllowedTargets;
  /** Those that our sockets have. */
  readonly transports: readonly SipTransportName[];
  readonly families: readonly (4 | 6)[];
  /** 0 to 1, for the weights of SRV records. */
  readonly random: () => number;
}

/** Addresses that one request is tried with, one after the other. */
export const MAX_HOPS = 4;
/** Records of one name that are read. */
const MAX_RECORDS = 16;

const DEFAULT_PORTS: Readonly<Record<SipTransportName, number>> = { udp: 5060, tcp: 5060, tls: 5061 };
const SRV_NAMES: Readonly<Record<SipTransportName, string>> = {
  udp: "_sip._udp",
  tcp: "_sip._tcp",
  tls: "_sips._tcp",
};
const NAPTR_TRANSPORTS: Readonly<Record<string, SipTransportName>> = {
  "SIP+D2U": "udp",
  "SIP+D2T": "tcp",
  "SIPS+D2T": "tls",
};

/** @throws TargetRefused for an address that requests may not go to, and an Error when there is no address */
export async function locate(uri: SipUri, options: LocateOptions): Promise<readonly Hop[]> {
  if (!hostAllowed(uri.host, options.allowed)) throw new TargetRefused(ADDRESS_NOT_ALLOWED);
  const hops: Hop[] = [];
  for (const place of await placesOf(uri, options)) {
    if (hops.length >= MAX_HOPS) break;
    hops.push(...(await hopsAt(place, uri.host, options)));
  }
  if (hops.length === 0) throw new Error("the name has no address that the sockets reach");
  return hops.slice(0, MAX_HOPS);
}

interface Place {
  readonly transport: SipTransportName;
  readonly host: string;
  readonly port: number;
}

async function placesOf(uri: SipUri, options: LocateOptions): Promise<readonly Place[]> {
  const { dns, transports } = options;
  const named = transportOf(uri);
  if (named !== null && !transports.includes(named)) throw new Error(`SIP over ${named} is not enabled here`);
  if (isIP(uri.host) !== 0 || uri.port !== null) {
    const transport = named ?? "udp";
    return [{ transport, host: uri.host, port: uri.port ?? DEFAULT_PORTS[transport] }];
  }
  const namedRecords = named === null ? await naptrPlaces(uri.host, options) : [];
  const places: Place[] = [];
  for (const { transport, name } of namedRecords) places.push(...(await srvPlaces(name, transport, options)));
  if (places.length > 0) return places;
  const wanted: readonly SipTransportName[] = named === null ? ["udp", "tcp"] : [named];
  for (const transport of wanted) {
    if (!transports.includes(transport)) continue;
    const found = await srvPlaces(`${SRV_NAMES[transport]}.${uri.host}`, transport, { ...options, dns });
    if (found.length > 0) return found;
  }
  const transport = named ?? "udp";
  return [{ transport, host: uri.host, port: DEFAULT_PORTS[transport] }];
}

/** Null: the DNS may choose. */
function transportOf({ scheme, parameters }: SipUri): SipTransportName | null {
  const given = parameters.get("transport")?.toLowerCase();
  if (scheme === "sips") return "tls";
  if (given === undefined) return null;
  if (given === "udp" || given === "tcp" || given === "tls") return given;
  throw new Error("the transport of the URI is not known");
}

async function naptrPlaces(
  name: string,
  { dns, transports }: LocateOptions,
): Promise<readonly { readonly transport: SipTransportName; readonly name: string }[]> {
  const records = (await dns.naptr(name)).slice(0, MAX_RECORDS);
  return records
    .filter(({ flags }) => flags.toLowerCase() === "s")
    .toSorted((one, other) => one.order - other.order || one.preference - other.preference)
    .flatMap(({ protocol, replacement }) => {
      const transport = NAPTR_TRANSPORTS[protocol.toUpperCase()];
      return transport !== undefined && transports.includes(transport)
        ? [{ transport, name: replacement }]
        : [];
    });
}

async function srvPlaces(
  name: string,
  transport: SipTransportName,
  { dns, random }: LocateOptions,
): Promise<readonly Place[]> {
  const records = (await dns.srv(name))
    .slice(0, MAX_RECORDS)
    .filter(({ name: host }) => host !== "" && host !== ".");
  return inOrder(records, random).map((record) => ({ transport, host: record.name, port: record.port }));
}

/** By priority; within one, drawn by weight (RFC 2782). */
function inOrder(records: readonly SrvRecord[], random: () => number): readonly SrvRecord[] {
  const left = records.toSorted((one, other) => one.priority - other.priority || one.weight - other.weight);
  const ordered: SrvRecord[] = [];
  while (left.length > 0) {
    const group = left.filter(({ priority }) => priority === left[0]?.priority);
    let draw = random() * group.reduce((sum, { weight }) => sum + weight, 0);
    const chosen = group.find(({ weight }) => (draw -= weight) <= 0) ?? group[0];
    if (chosen === undefined) break;
    ordered.push(chosen);
    left.splice(left.indexOf(chosen), 1);
  }
  return ordered;
}

async function hopsAt(place: Place, uriHost: string, options: LocateOptions): Promise<readonly Hop[]> {
  const { dns, allowed, families } = options;
  const { transport, host, port } = place;
  if (!portAllowed(port)) throw new TargetRefused(ADDRESS_NOT_ALLOWED);
  const addresses = isIP(host) === 0 ? (await dns.addresses(host)).slice(0, MAX_RECORDS) : [host];
  // One forbidden address refuses the name: it may not change between this answer and the next.
  if (!addresses.every((address) => addressAllowed(address, allowed)))
    throw new TargetRefused(ADDRESS_NOT_ALLOWED);
  const serverName = transport === "tls" && isIP(uriHost) === 0 ? uriHost : null;
  return addresses
    .filter((address) => families.some((family) => isIP(address) === family))
    .map((address) => ({ transport, address, port, connection: null, serverName }));
}
