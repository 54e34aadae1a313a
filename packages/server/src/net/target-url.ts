/** What a URL that a user names must be like before anything is resolved or connected. */

import { isIP } from "node:net";
import { addressAllowed, portAllowed, type AllowedTargets } from "./address-filter.ts";

/** The target is not one that requests of users may go to. The message never tells what a name resolves to. */
export class TargetRefused extends Error {
  override readonly name = "TargetRefused";
}

export const ADDRESS_NOT_ALLOWED = "address not allowed";
/** For records, which the operator may read as well. */
export const REFUSAL_ADVICE = "ALLOW_PRIVATE_TARGETS lists the private addresses that may be reached";

/** Longest URL that is taken; servers commonly stop at 8 to 16 thousand characters. */
export const MAX_URL_CHARS = 16_384;

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
};

export interface Target {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

export function targetOf(url: URL): Target {
  const { hostname, port, protocol } = url;
  return {
    host: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port),
    secure: protocol === "https:" || protocol === "wss:",
  };
}

/** @throws TargetRefused unless it is a plain http or https URL whose address, if written out, is allowed */
export function checkedUrl(text: string, allowed: AllowedTargets, kind: "http" | "websocket" = "http"): URL {
  const reason = refusedLiteral(text, allowed, kind);
  if (reason !== null) throw new TargetRefused(reason);
  return new URL(text);
}

/**
 * Why the URL is refused as it is written, or null: for checking one that is to be stored. A name is not resolved here,
 * but parsing turns every odd spelling of an address (octal, hexadecimal, short) into the usual one.
 */
export function refusedLiteral(
  text: string,
  allowed: AllowedTargets,
  kind: "http" | "websocket" = "http",
): string | null {
  if (text.length > MAX_URL_CHARS) return `longer than ${String(MAX_URL_CHARS)} characters`;
  if (!URL.canParse(text)) return "not a URL";
  const url = new URL(text);
  const protocols = kind === "http" ? ["http:", "https:"] : ["ws:", "wss:"];
  if (!protocols.includes(url.protocol)) return `not ${kind === "http" ? "an http" : "a ws"} URL`;
  if (url.username !== "" || url.password !== "") return "credentials in the URL are not allowed";
  const { host, port } = targetOf(url);
  return portAllowed(port) && hostAllowed(host, allowed) ? null : ADDRESS_NOT_ALLOWED;
}

/** False for a refused address that is written out, and for the names of this machine itself (RFC 6761). */
export function hostAllowed(host: string, allowed: AllowedTargets): boolean {
  if (isIP(host) !== 0) return addressAllowed(host, allowed);
  const name = host.toLowerCase().replace(/\.$/, "");
  if (name !== "localhost" && !name.endsWith(".localhost")) return name !== "";
  return addressAllowed("127.0.0.1", allowed) || addressAllowed("::1", allowed);
}
