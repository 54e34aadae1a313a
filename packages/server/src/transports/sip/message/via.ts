/** Via: the way that a response takes back (RFC 3261, 18.2; RFC 3581). */

import { hostPortText, parseHostPort } from "./uri.ts";
import { isToken, parametersText, parseParameters, type Parameters } from "./syntax.ts";

export interface Via {
  /** Upper case: `UDP`, `TCP`, `TLS`, or one that we do not know. */
  readonly transport: string;
  readonly host: string;
  readonly port: number | null;
  readonly parameters: Parameters;
}

/** How branches of RFC 3261 begin; others come from peers of RFC 2543, and are not unique. */
export const BRANCH_COOKIE = "z9hG4bK";

/** A host of 253 characters, a port, and spaces around the colon. The patterns below are slow with very many spaces. */
const MAX_SENT_BY_CHARS = 300;

export function parseVia(text: string): Via | null {
  const match = /^SIP\s*\/\s*2\.0\s*\/\s*(\S+)\s+([^;]+)(;.*)?$/isu.exec(text.trim());
  if (match === null) return null;
  const [, transport = "", sent = "", rest = ""] = match;
  const sentBy = sent.trim();
  if (sentBy.length > MAX_SENT_BY_CHARS) return null;
  const host = parseHostPort(sentBy.replaceAll(/\s*:\s*/g, ":"));
  const parameters = parseParameters(rest);
  if (!isToken(transport) || host === null || parameters === null) return null;
  return { transport: transport.toUpperCase(), ...host, parameters };
}

export function viaText({ transport, host, port, parameters }: Via): string {
  return `SIP/2.0/${transport} ${hostPortText(host, port)}${parametersText(parameters)}`;
}

/** As the server completes it: where the request really came from. */
export function viaFrom(via: Via, address: string, port: number): Via {
  const parameters = new Map(via.parameters);
  const wantsPort = parameters.has("rport");
  if (wantsPort) parameters.set("rport", String(port));
  if (wantsPort || via.host !== address) parameters.set("received", address);
  return { ...via, parameters };
}
