/** What an adapter says of its vendor's websockets. One socket may serve several requests at a time. */

import type { EngineFailure } from "../../ports/engine-failure.ts";

/** Where a frame of the vendor goes. */
export type Routed<Message> =
  /** To the request with this id; null: to all requests of the socket. A frame for a request that is gone is dropped. */
  | { readonly to: string | null; readonly message: Message }
  /** The vendor ends the socket, or it can no longer be trusted: all its requests fail with this. */
  | { readonly lost: EngineFailure }
  /** Of no interest. */
  | null;

export interface SocketProtocol<Message> {
  /** Reads one frame, text or binary. A throw means that the vendor sent garbage, and ends the socket. */
  read(data: string | Uint8Array): Routed<Message>;
  /** Messages that are sent first on each socket, for example a key or settings. */
  readonly greeting?: readonly string[];
  /**
   * For vendors that answer the greeting: the socket is open with the first message for which this is true. Messages
   * before are not given to requests. Unset: it is open when its upgrade is accepted.
   */
  isReady?(message: Message): boolean;
  /** What a close by the vendor means; null: nothing special. */
  onClose?(code: number, reason: string): EngineFailure | null;
  /** Sent on a socket that is open and idle, so that the vendor keeps it. */
  readonly keepAlive?: { readonly everyMs: number; readonly message: string };
}

/** One kind of socket: sockets with the same address, headers and greeting serve the same requests. */
export interface SocketTarget<Message> {
  /** `ws://` or `wss://`, with its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that no message may show, such as the key. */
  readonly secrets: readonly string[];
  readonly protocol: SocketProtocol<Message>;
}

/** `http(s)` base, a path that begins with a slash, and fields of the query; unset ones are left out. */
export function socketUrl(
  baseUrl: string,
  path: string,
  query: Readonly<Record<string, string | number | boolean | null | undefined>> = {},
): string {
  const url = new URL(baseUrl.replace(/^http/i, "ws"));
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined) url.searchParams.set(name, String(value));
  url.hash = "";
  return url.href;
}
