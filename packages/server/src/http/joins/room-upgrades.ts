/** Websockets of clients that join rooms (D116): `room_info` at the join URL, and signalling below it. */

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, WEB_RTC_JOIN_PATH } from "@parley/schema";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import type { ConnectOutcome, FindJoinInput, JoinQuery, Rooms } from "../../joins/api.ts";
import type { Answer, HandlerDeps } from "../api/endpoint.ts";
import { rateLimited } from "../api/rate-limit.ts";
import type { PlainRequest, PlainRoute } from "../pages/plain-routes.ts";
import { unknownAddress } from "./join-lookup.ts";
import { parseJoinPath } from "./join-path.ts";
import { type RoomTokens, roomTokens } from "./room-token.ts";
import type { FindClientJoin } from "./wrong-tokens.ts";

/** Offers have at most 64 KB, and every other message less. Larger ones close the socket with 1009. */
const MAX_SIGNAL_BYTES = 80 * 1_024;
/** Time for the other side's close frame before the connection is cut. */
const CLOSE_TIMEOUT_MS = 2_000;
const CLOSE_INTERNAL = 1011;

/** `closeTimeout` is an option of ws that its published types lack. */
const SOCKET_OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_SIGNAL_BYTES,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
};

/** Below a join path. Clients that cannot do version 1 find nothing here. */
const SIGNAL_PATH = "/room/rtc/v1";

export interface RoomUpgradesOptions {
  readonly rooms: Rooms;
  readonly secretsKey: Uint8Array;
  readonly publicUrl: () => string;
  readonly findJoin: FindClientJoin;
  readonly clientAddressOf: (request: IncomingMessage) => string;
  /** The connection belongs to a call now: an offer was answered, or media flow. */
  readonly connected: (socket: Duplex) => void;
  readonly nowMs: () => number;
  readonly logger: Logger;
}

export interface SignalUpgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly check: () => void;
}

/** The join of a path of signalling; null: it is another path. */
export function parseSignalPath(path: string): FindJoinInput | null {
  const plain = path.replace(/\/$/, "");
  if (!plain.endsWith(SIGNAL_PATH)) return null;
  const join = parseJoinPath(plain.slice(0, -SIGNAL_PATH.length));
  return join?.medium === "web_rtc" ? join : null;
}

export class RoomUpgrades {
  readonly #options: RoomUpgradesOptions;
  readonly #tokens: RoomTokens;
  readonly #sockets = new WebSocketServer(SOCKET_OPTIONS);

  constructor(options: RoomUpgradesOptions) {
    this.#options = options;
    this.#tokens = roomTokens(options.secretsKey);
  }

  get clients(): ReadonlySet<WebSocket> {
    return this.#sockets.clients;
  }

  /** A socket at the join URL. */
  open(
    { callId, token }: Pick<FindJoinInput, "callId" | "token">,
    socket: WebSocket,
    query: JoinQuery,
    connection: Duplex,
  ): Promise<ConnectOutcome> {
    const { rooms, publicUrl, nowMs, connected } = this.#options;
    const base = publicUrl().replace(/^http/, "ws");
    const roomUrl = `${base}/calls/${callId}/web_rtc/${token}/room`;
    const access = this.#tokens.write(callId, nowMs());
    return rooms.open({ callId, socket, query, roomUrl, token: access, joined: () => connected(connection) });
  }

  /**
   * A socket of signalling. Throws ApiError before the upgrade.
   *
   * @param check called immediately before the upgrade; throws ApiError
   */
  async upgrade(join: FindJoinInput, { request, socket, head, check }: SignalUpgrade): Promise<void> {
    const { rooms, findJoin, clientAddressOf, nowMs } = this.#options;
    const query = new URLSearchParams((request.url ?? "").split("?").slice(1).join("?"));
    await checkToken(this.#tokens, {
      join,
      findJoin,
      clientAddress: clientAddressOf(request),
      token: tokenOf(query, request.headers.authorization),
      nowMs: nowMs(),
    });
    const joinRequest = query.get("join_request");
    if (joinRequest === null) {
      throw new ApiError("validation_failed", "The query has no join_request.");
    }
    if (socket.destroyed) return;
    check();
    const waitMs = rooms.waitToSignal(join.callId);
    if (waitMs > 0) throw rateLimited("Too many signalling sockets of this call", waitMs);
    this.#sockets.handleUpgrade(request, socket, head, (connected) => {
      void this.#signal(join.callId, joinRequest, connected, request.socket);
    });
  }

  async #signal(callId: string, joinRequest: string, socket: WebSocket, connection: Duplex): Promise<void> {
    const { rooms, connected, logger } = this.#options;
    const answered = (): void => connected(connection);
    // Frames and failures before anybody listens must be neither lost nor uncaught.
    socket.pause();
    socket.on("error", (error) => logger.debug({ err: error, callId }, "a signalling socket failed"));
    try {
      await rooms.signal({ callId, socket, joinRequest, answered });
    } catch (error) {
      logger.error({ err: error, callId }, "the signalling of a room could not begin");
      socket.close(CLOSE_INTERNAL);
    }
    socket.resume();
  }
}

/** Clients ask whether their token is good when their signalling could not be opened. */
export function roomRoutes(deps: HandlerDeps): PlainRoute[] {
  const tokens = roomTokens(deps.http.secretsKey);
  const answer = async ({ url, headers, clientAddress }: PlainRequest): Promise<Answer> => {
    const [path = "", search] = url.split("?", 2);
    const join = parseSignalPath(path.replace(/\/validate\/?$/, ""));
    if (join === null) throw unknownAddress();
    const token = tokenOf(new URLSearchParams(search), headers.authorization);
    const { findJoin, http } = deps;
    await checkToken(tokens, { join, findJoin, clientAddress, token, nowMs: http.nowMs() });
    return { status: 200, headers: { "content-type": "text/plain" }, body: "success" };
  };
  const path = `${WEB_RTC_JOIN_PATH}${SIGNAL_PATH}/validate`;
  return [{ method: "GET", path, maxBytes: 0, frequent: false, answer }];
}

interface TokenCheck {
  readonly join: FindJoinInput;
  readonly findJoin: FindClientJoin;
  readonly clientAddress: string;
  readonly token: string;
  readonly nowMs: number;
}

async function checkToken(
  tokens: RoomTokens,
  { join, findJoin, clientAddress, token, nowMs }: TokenCheck,
): Promise<void> {
  const found = await findJoin({ ...join, isOfConnection: true }, clientAddress);
  if (found === "not_found") throw unknownAddress();
  if (tokens.isValid(token, join.callId, nowMs)) return;
  throw new ApiError(
    "unauthenticated",
    "The access token of the room is not valid; open the join URL again.",
  );
}

function tokenOf(query: URLSearchParams, authorization: string | undefined): string {
  return query.get("access_token") ?? /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "";
}
