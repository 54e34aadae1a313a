/**
 * Websockets at join URLs (D111–D116): decides before the upgrade whether the URL is good, refuses by an HTTP problem
 * body where it is not, and hands the connected socket to the call.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, toNeutralName } from "@parley/schema";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup, JoinQuery } from "./deps.ts";
import { loggedPath } from "./headers.ts";

/** Largest frame or message; larger ones close the socket with 1009. */
const MAX_FRAME_BYTES = 1_048_576;
/** Upgrades being looked up at once; bounds what a flood of them can ask of the database. */
export const MAX_PENDING_UPGRADES = 256;
/** Wait for the other side's close frame before the connection is cut. */
const CLOSE_TIMEOUT_MS = 2000;
/** `closeTimeout` is an option of ws that its published types do not know. */
const SOCKET_OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_FRAME_BYTES,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
};
/** Wait asked of clients that are refused because the service is draining or full. */
const RETRY_AFTER_SECONDS = 2;
const MAX_CLIENT_VERSION_LENGTH = 120;
const MAX_API_VERSION_LENGTH = 40;
/** `experimentalMessages`: one name is defined today; bounds what a call keeps of the list. */
const MAX_EXPERIMENTAL_MESSAGES = 16;
const MAX_EXPERIMENTAL_LENGTH = 64;

const CLOSE_RESTARTING = 1012;
const CLOSE_INTERNAL = 1011;
const CLOSE_NEEDS_WEB_RTC = 4406;
const CLOSE_ALREADY_JOINED = 4409;
const CLOSE_ENDED = 4410;

const MEDIA: ReadonlySet<string> = new Set([
  "web_rtc",
  "server_web_socket",
  "telephony1",
  "telephony2",
  "telephony3",
  "telephony4",
]);

const JOIN_PATH = /^\/calls\/([0-9a-fA-F-]{36})\/([a-zA-Z0-9_]{1,40})\/([A-Za-z0-9_-]{1,256})\/?$/;

/** The parts of a join path, medium in its neutral spelling and call id in lower case; null when it is none. */
export function parseJoinPath(path: string): FindJoinInput | null {
  const [, callId = "", spelled = "", token = ""] = JOIN_PATH.exec(path) ?? [];
  const medium = toNeutralName(spelled);
  return MEDIA.has(medium) ? { callId: callId.toLowerCase(), medium, token } : null;
}

/** Reads what D112 names and ignores the rest. */
export function parseJoinQuery(query: URLSearchParams): JoinQuery {
  const experimental = (query.get("experimentalMessages") ?? "").split(",", MAX_EXPERIMENTAL_MESSAGES);
  return {
    clientVersion: shortened(query.get("clientVersion"), MAX_CLIENT_VERSION_LENGTH),
    apiVersion: shortened(query.get("apiVersion"), MAX_API_VERSION_LENGTH),
    experimentalMessages: experimental
      .map((name) => name.trim().slice(0, MAX_EXPERIMENTAL_LENGTH))
      .filter((name) => name !== ""),
  };
}

function shortened(text: string | null, codePoints: number): string | null {
  return text === null || text === ""
    ? null
    : [...text.slice(0, codePoints * 2)].slice(0, codePoints).join("");
}

export interface JoinSocketsOptions {
  readonly findJoin: (input: FindJoinInput) => Promise<JoinLookup>;
  readonly connectCall: (input: ConnectCallInput) => ConnectOutcome | Promise<ConnectOutcome>;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Writes the problem as the whole HTTP answer and ends the connection. */
  readonly refuse: (socket: Duplex, error: unknown, requestId: string) => void;
  readonly logger: Logger;
  /** Told once per upgrade, for the metrics. */
  readonly counted: (outcome: string) => void;
}

export interface JoinSockets {
  readonly attach: (server: Server) => void;
  /** New joins are refused with 503 from now on; lost calls may still come back. */
  readonly drain: () => void;
  /** Closes what is still connected with 1012 and cuts what does not answer. */
  readonly close: () => Promise<void>;
}

interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export function joinSockets(options: JoinSocketsOptions): JoinSockets {
  const { logger } = options;
  const sockets = new WebSocketServer(SOCKET_OPTIONS);
  let pending = 0;
  let draining = false;
  let closing = false;

  sockets.on("wsClientError", (error, socket, request) => {
    const refusal = new ApiError(
      "validation_failed",
      `The websocket handshake is not valid: ${error.message}.`,
    );
    options.refuse(socket, refusal, options.requestIdOf(request));
  });

  /** Throws ApiError for what is refused before the upgrade. */
  const lookUp = async (join: FindJoinInput | null): Promise<Exclude<JoinLookup, "gone" | "not_found">> => {
    if (join === null) throw new ApiError("not_found", "There is no call at this address.");
    if (pending > MAX_PENDING_UPGRADES) throw noCapacity("Too many joins are waiting");
    const found = await options.findJoin(join);
    if (found === "not_found") throw new ApiError("not_found", "There is no call at this address.");
    if (found === "gone") {
      throw new ApiError(
        "gone",
        "This join URL is no longer valid: the call has ended or was not joined in time.",
      );
    }
    if (closing || (draining && found === "ok")) throw noCapacity("The service is shutting down");
    return found;
  };

  const connect = async (socket: WebSocket, join: FindJoinInput, found: JoinLookup, query: JoinQuery) => {
    if (join.medium === "web_rtc") return CLOSE_NEEDS_WEB_RTC;
    if (found === "joined") return CLOSE_ALREADY_JOINED;
    if (closing) return CLOSE_RESTARTING;
    const outcome = await options.connectCall({ callId: join.callId, socket, query });
    if (outcome === "joined") return CLOSE_ALREADY_JOINED;
    return outcome === "gone" ? CLOSE_ENDED : null;
  };

  const welcome = async (
    socket: WebSocket,
    join: FindJoinInput,
    found: JoinLookup,
    request: IncomingMessage,
  ) => {
    const log = logger.child({
      requestId: options.requestIdOf(request),
      callId: join.callId,
      medium: join.medium,
    });
    // Frames and failures before the call listens must neither be lost nor be uncaught.
    socket.pause();
    socket.on("error", (error) => log.debug({ err: error }, "join socket failed"));
    let code: number | null;
    try {
      code = await connect(
        socket,
        join,
        found,
        parseJoinQuery(new URL(request.url ?? "/", "ws://x").searchParams),
      );
    } catch (error) {
      log.error({ err: error }, "a call could not be connected");
      code = CLOSE_INTERNAL;
    }
    socket.resume();
    options.counted(code === null ? "connected" : String(code));
    log.info({ outcome: code ?? "connected" }, "join");
    if (code !== null) socket.close(code, CLOSE_REASONS.get(code));
  };

  const upgrade = async ({ request, socket, head }: Upgrade): Promise<void> => {
    const join = parseJoinPath((request.url ?? "").split("?", 1)[0] ?? "");
    const found = await lookUp(join);
    if (join === null || socket.destroyed) return;
    sockets.handleUpgrade(request, socket, head, (connected) => {
      void welcome(connected, join, found, request);
    });
  };

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const onError = (error: Error): void =>
      logger.debug({ err: error }, "connection failed during an upgrade");
    socket.on("error", onError);
    pending += 1;
    upgrade({ request, socket, head })
      .catch((error: unknown) => {
        const status = error instanceof ApiError ? error.code : "internal";
        options.counted(status);
        const requestId = options.requestIdOf(request);
        const path = loggedPath(request.url ?? "");
        if (status === "internal") logger.error({ err: error, requestId, path }, "an upgrade failed");
        else logger.info({ requestId, path, outcome: status }, "join refused");
        options.refuse(socket, error, requestId);
      })
      .finally(() => {
        pending -= 1;
      });
  };

  return {
    attach: (server) => {
      server.on("upgrade", onUpgrade);
    },
    drain: () => {
      draining = true;
    },
    close: async () => {
      closing = true;
      const open = [...sockets.clients];
      const closed = open.map(
        (socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())),
      );
      for (const socket of open) socket.close(CLOSE_RESTARTING, CLOSE_REASONS.get(CLOSE_RESTARTING));
      // Each is cut by `closeTimeout` at the latest.
      await Promise.all(closed);
    },
  };
}

const CLOSE_REASONS: ReadonlyMap<number, string> = new Map([
  [CLOSE_INTERNAL, "internal failure"],
  [CLOSE_RESTARTING, "the service is restarting"],
  [CLOSE_NEEDS_WEB_RTC, "this URL needs WebRTC by HTTP"],
  [CLOSE_ALREADY_JOINED, "already joined"],
  [CLOSE_ENDED, "the call has ended"],
]);

function noCapacity(reason: string): ApiError {
  return new ApiError("no_capacity", `${reason}; try again shortly.`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
