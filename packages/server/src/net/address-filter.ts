/**
 * Which addresses and ports a request that a user names may go to. A pure decision: everything that is not an ordinary
 * public address is refused, so that nobody reaches the operator's own network through this process.
 */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type Address = ReturnType<typeof ipaddr.parse>;

/** What the operator lets through: everything, or these addresses and ranges besides the public ones. */
export type AllowedTargets = true | readonly AllowedRange[];

export interface AllowedRange {
  readonly network: string;
  readonly prefixLength: number;
}

export const NO_PRIVATE_TARGETS: AllowedTargets = [];

/** Entries of the list; an operator names machines and networks, not a routing table. */
const MAX_ALLOWED_RANGES = 200;

/**
 * Public by their number, but answered inside the host of a cloud: Azure's platform address. The other metadata
 * addresses (169.254.169.254, 100.100.100.200, 192.0.0.192, fd00:ec2::254, fd20:ce::254) lie in refused ranges.
 */
const METADATA = new Set(["168.63.129.16"]);

/** The only IPv6 range that is given out for the public network. */
const PUBLIC_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** Mail, and X11 displays: neither speaks HTTP, and both obey what looks like a command in a request. */
const MAIL_PORT = 25;
const X11_PORTS = { first: 6000, last: 6063 } as const;

/** @throws Error with the rest of a sentence that begins with the name of the setting */
export function readAllowedTargets(text: string): AllowedTargets {
  const value = text.trim();
  if (value === "true") return true;
  if (value === "false" || value === "") return NO_PRIVATE_TARGETS;
  const entries = value.split(/[\s,]+/).filter((entry) => entry !== "");
  if (entries.length > MAX_ALLOWED_RANGES) {
    throw new Error(`must list at most ${String(MAX_ALLOWED_RANGES)} addresses and ranges`);
  }
  return entries.map(readRange);
}

function readRange(entry: string): AllowedRange {
  const [network = "", length, ...rest] = entry.split("/");
  const bits = isIP(network) === 4 ? 32 : isIP(network) === 6 && !network.includes("%") ? 128 : 0;
  const prefixLength = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : -1;
  if (bits === 0 || rest.length > 0 || prefixLength < 0 || prefixLength > bits) {
    throw new Error(
      `must be true, false, or a comma-separated list of addresses and ranges such as 10.0.0.0/8: "${entry}" is not one`,
    );
  }
  return { network, prefixLength };
}

export function portAllowed(port: number): boolean {
  return (
    port >= 1 && port <= 65_535 && port !== MAIL_PORT && (port < X11_PORTS.first || port > X11_PORTS.last)
  );
}

/** @param address as a resolver or a socket prints it; anything else is refused */
export function addressAllowed(address: string, allowed: AllowedTargets): boolean {
  if (isIP(address) === 0) return false;
  if (allowed === true) return true;
  const written = parse(address);
  const meant = withinIpv6(written);
  return isPublic(meant) || allowed.some((range) => contains(range, written) || contains(range, meant));
}

/**
 * By way of the URL parser, which writes IPv6 in hexadecimal alone: given `::8.8.8.8`, ipaddr.js reads the dotted end
 * as if it said `::ffff:8.8.8.8`.
 */
function parse(address: string): Address {
  if (isIP(address) === 4) return ipaddr.parse(address);
  const [withoutZone = ""] = address.split("%");
  return ipaddr.parse(new URL(`http://[${withoutZone}]`).hostname.slice(1, -1));
}

function contains({ network, prefixLength }: AllowedRange, address: Address): boolean {
  const base = parse(network);
  if (base.kind() === "ipv4" && address.kind() === "ipv4") {
    return (address as ipaddr.IPv4).match(base, prefixLength);
  }
  if (base.kind() === "ipv6" && address.kind() === "ipv6") {
    return (address as ipaddr.IPv6).match(base, prefixLength);
  }
  return false;
}

/**
 * The IPv4 address that the machine or its NAT64 gateway would reach. The other ways to write one inside IPv6 (IPv4-
 * compatible, 6to4, Teredo, ISATAP) are out of use and refused as they are.
 */
function withinIpv6(address: Address): Address {
  if (address.kind() === "ipv4") return address;
  const { parts } = address as ipaddr.IPv6;
  const mapped = address.range() === "ipv4Mapped";
  const nat64 = parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0);
  return mapped || nat64 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
}

function isPublic(address: Address): boolean {
  if (address.range() !== "unicast") return false;
  if (address.kind() === "ipv4") return !METADATA.has(address.toString());
  const ipv6 = address as ipaddr.IPv6;
  return ipv6.match(...PUBLIC_IPV6) && !isIsatap(ipv6);
}

/** An interface identifier of RFC 5214: the last 32 bits are an IPv4 address of the inner network. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe;
}
