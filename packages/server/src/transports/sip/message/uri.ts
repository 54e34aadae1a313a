/** SIP and SIPS URIs (RFC 3261, 19.1). */

import { isIP } from "node:net";
import { parseParameters, parametersText, wholeNumber, type Parameters } from "./syntax.ts";

export interface SipUri {
  readonly scheme: "sip" | "sips";
  /** With its escapes; null when the URI has no `@`. A password is kept out. */
  readonly user: string | null;
  /** Lower case; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number | null;
  readonly parameters: Parameters;
  /** Whether header fields follow (`?name=value`). */
  readonly hasHeaders: boolean;
}

/** Longest URI that is read: numbers and names have tens of characters, escaped ones some hundred. */
export const MAX_URI_CHARS = 2_048;

const HOSTNAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,62}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,62}[a-z0-9_])?)*\.?$/;
const SCHEME = /^([A-Za-z][A-Za-z0-9+\-.]*):(.*)$/su;
/** User part and password: unreserved, escaped and `&=+$,;?/`. Some peers leave `#` as it is. */
const USER = /^(?:[A-Za-z0-9\-_.!~*'()&=+$,;?/:#]|%[0-9A-Fa-f]{2})+$/;

/** The scheme of any URI, in lower case. */
export function schemeOf(text: string): string | null {
  return SCHEME.exec(text)?.[1]?.toLowerCase() ?? null;
}

/** Null for another scheme and for what is not well-formed. */
export function parseUri(text: string): SipUri | null {
  // Quoted values are those of header fields; in a URI they could end the brackets around it.
  if (text.length > MAX_URI_CHARS || /[\s<>"]/.test(text)) return null;
  const [, scheme = "", rest = ""] = SCHEME.exec(text) ?? [];
  const lowerScheme = scheme.toLowerCase();
  if (lowerScheme !== "sip" && lowerScheme !== "sips") return null;
  const at = rest.indexOf("@");
  const userinfo = at === -1 ? null : rest.slice(0, at);
  if (userinfo !== null && !USER.test(userinfo)) return null;
  const afterUser = rest.slice(at + 1);
  const question = afterUser.indexOf("?");
  const beforeHeaders = question === -1 ? afterUser : afterUser.slice(0, question);
  const semicolon = beforeHeaders.indexOf(";");
  const authority = semicolon === -1 ? beforeHeaders : beforeHeaders.slice(0, semicolon);
  const host = parseHostPort(authority);
  const parameters = parseParameters(semicolon === -1 ? "" : beforeHeaders.slice(semicolon));
  if (host === null || parameters === null) return null;
  return {
    scheme: lowerScheme,
    user: userinfo?.split(":")[0] ?? null,
    ...host,
    parameters,
    hasHeaders: question !== -1,
  };
}

/** `host`, `host:port`, with an IPv6 address in brackets. */
export function parseHostPort(text: string): Pick<SipUri, "host" | "port"> | null {
  const [, name = "", port] = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = name.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const isLiteral = name.startsWith("[") ? isIP(host) === 6 : isIP(host) === 4 || HOSTNAME.test(host);
  if (!isLiteral) return null;
  const number = port === undefined ? null : wholeNumber(port, 65_535);
  return port !== undefined && (number === null || number === 0) ? null : { host, port: number };
}

export function uriText({ scheme, user, host, port, parameters }: SipUri): string {
  return `${scheme}:${user === null ? "" : `${user}@`}${hostPortText(host, port)}${parametersText(parameters)}`;
}

export function hostPortText(host: string, port: number | null): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return port === null ? name : `${name}:${String(port)}`;
}

/** The user part as people read it. Escapes that are no UTF-8 stay as they are. */
export function userOf(uri: SipUri | null): string {
  const user = uri?.user ?? "";
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

/** For a user part that we write: everything that the grammar does not take is escaped. */
export function escapedUser(user: string): string {
  return encodeURIComponent(user).replaceAll(/%(2B|26|3D|24|2C|3B|3F|2F)/gi, (escape) =>
    decodeURIComponent(escape),
  );
}
