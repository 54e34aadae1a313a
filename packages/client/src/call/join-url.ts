/** Parses a join URL: the URLs for requests and for websockets. */

import { CallError } from "./call-error.ts";

export interface JoinAddress {
  /** For requests, with `http` or `https`. */
  readonly http: string;
  /** For websockets, with `ws` or `wss`. */
  readonly socket: string;
  /** Whether the call was created for WebRTC. */
  readonly byWebRtc: boolean;
}

export interface JoinQuery {
  /** Stored with the call; at most 120 characters are used. */
  readonly clientVersion?: string;
  /** Requests `debug` messages. */
  readonly debug?: boolean;
  /** Requests the user's words while they are spoken. */
  readonly partials?: boolean;
  /** The URL is opened again when the service asks for it. */
  readonly returns?: boolean;
}

const SCHEMES: Readonly<Record<string, "" | "s">> = { "ws:": "", "http:": "", "wss:": "s", "https:": "s" };

/** @throws CallError `bad_join_url` */
export function readJoinUrl(joinUrl: string, query: JoinQuery = {}): JoinAddress {
  const url = URL.canParse(joinUrl) ? new URL(joinUrl) : null;
  const secure = url === null ? undefined : SCHEMES[url.protocol];
  const medium = /\/calls\/[^/]+\/([^/]+)\/[^/]+\/?$/.exec(url?.pathname ?? "")?.[1];
  if (url === null || secure === undefined || medium === undefined) {
    throw new CallError("bad_join_url", "This is not a join URL. Pass the joinUrl of a call unchanged.");
  }
  if (query.clientVersion !== undefined) url.searchParams.set("clientVersion", query.clientVersion);
  const { debug = false, partials = false, returns = false } = query;
  const messages = { debug, partials, reconnect: returns };
  const asked = Object.entries(messages)
    .flatMap(([name, isAsked]) => (isAsked ? [name] : []))
    .join(",");
  if (asked !== "") url.searchParams.set("experimentalMessages", asked);
  const rest = url.href.slice(url.protocol.length);
  return {
    http: `http${secure}:${rest}`,
    socket: `ws${secure}:${rest}`,
    byWebRtc: /^web_?rtc$/i.test(medium),
  };
}
