/** Where WebRTC media arrive, and which STUN and TURN servers clients get: settings of the environment. */

import { isIP } from "node:net";
import { z } from "zod";
import { readBy } from "./env-fields.ts";

/** A STUN or TURN server, in the form that browsers take. */
export interface IceServer {
  readonly urls: readonly string[];
  readonly username: string | null;
  readonly credential: string | null;
}

export interface WebRtcSettings {
  /** Sent to clients; the service itself uses none. */
  readonly iceServers: readonly IceServer[];
  /** First and last UDP port; null: any that is free. */
  readonly portRange: readonly [number, number] | null;
  /** The address that clients send to; null: the addresses that are bound. */
  readonly announcedAddress: string | null;
}

const MAX_ICE_SERVERS = 16;
const ICE_URL = /^(?:stuns?|turns?):[^\s<>"]{1,250}$/;
const FORM = "must be a list of stun: and turn: URLs, or a JSON list of {urls, username, credential}";

export const WEBRTC_FIELDS = {
  ICE_SERVERS: readBy(readIceServers).default([]),
  WEBRTC_PORT_RANGE: readBy(readPortRange).optional(),
  WEBRTC_ANNOUNCED_ADDRESS: readBy(readAnnouncedAddress).optional(),
};

const Fields = z.object(WEBRTC_FIELDS);

export function webRtcOf(values: z.infer<typeof Fields>): WebRtcSettings {
  const { ICE_SERVERS: iceServers, WEBRTC_PORT_RANGE: range, WEBRTC_ANNOUNCED_ADDRESS: address } = values;
  return { iceServers, portRange: range ?? null, announcedAddress: address ?? null };
}

function readIceServers(text: string): readonly IceServer[] {
  const given = text.trim().startsWith("[") ? parsed(text) : text.split(/[\s,]+/).filter((url) => url !== "");
  if (!Array.isArray(given) || given.length > MAX_ICE_SERVERS) throw new Error(FORM);
  return given.map((server: unknown) =>
    typeof server === "string" ? iceServer({ urls: server }) : iceServer(server),
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(FORM);
  }
}

function iceServer(given: unknown): IceServer {
  if (typeof given !== "object" || given === null) throw new Error(FORM);
  const { urls, username = null, credential = null } = given as Readonly<Record<string, unknown>>;
  const list: readonly unknown[] = Array.isArray(urls) ? urls : [urls];
  const known = list.filter((url): url is string => typeof url === "string" && ICE_URL.test(url));
  if (known.length === 0 || known.length !== list.length) throw new Error(FORM);
  if (![username, credential].every((value) => value === null || isHeaderText(value))) throw new Error(FORM);
  if (known.some((url) => url.startsWith("turn")) && (username === null || credential === null)) {
    throw new Error("must have a username and a credential for every turn: URL");
  }
  return { urls: known, username: username as string | null, credential: credential as string | null };
}

/** Fits between quotes in a header without an escape. */
function isHeaderText(value: unknown): value is string {
  return typeof value === "string" && /^[\x20\x21\x23-\x5b\x5d-\x7e]{1,512}$/.test(value);
}

/** Each call needs a port: with fewer ports than calls, joins fail. */
export function readPortRange(text: string): readonly [number, number] {
  const [, from = "", to = ""] = /^(\d{1,5})-(\d{1,5})$/.exec(text.trim()) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (from === "" || first < 1024 || last > 65_535 || first >= last) {
    throw new Error("must be two UDP ports from 1024 to 65535, such as 40000-40999");
  }
  return [first, last];
}

function readAnnouncedAddress(text: string): string {
  const address = text.trim();
  if (isIP(address) === 0 || address === "0.0.0.0" || address === "::") {
    throw new Error("must be the IP address that clients reach, such as 203.0.113.7");
  }
  return address;
}

/** As values of `Link` headers (RFC 9725, section 4.6). */
export function iceServerLinks(servers: readonly IceServer[]): string[] {
  return servers.flatMap(({ urls, username, credential }) =>
    urls.map((url) => {
      const login =
        username === null || credential === null
          ? ""
          : `; username="${username}"; credential="${credential}"; credential-type="password"`;
      return `<${url}>; rel="ice-server"${login}`;
    }),
  );
}
