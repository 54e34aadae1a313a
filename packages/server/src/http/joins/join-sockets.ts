/**
 * Websockets at join URLs (D111–D116): checks the URL before the upgrade, refuses a wrong one by an HTTP problem body,
 * and passes the connected socket to the call.
 */

import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, AUDIO_PROTOCOL } from "@parley/schema";
import type { Logger } from "pino";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, JoinLookup } from "../../joins/api.ts";
import { loggedPath } from "../api/headers.ts";
import { checkJoin, noCapacity, unknownAddress } from "./join-lookup.ts";
import { parseJoinPath, parseJoinQuery } from "./join-path.ts";
import { parseSignalPath, type RoomUpgrades } from "./room-upgrades.ts";
import type { FindClientJoin } from "./wrong-tokens.ts";

/** Largest frame or message; larger ones close the socket with 1009. */
const MAX_FRAME_BYTES = 1_048_576;
/** Upgrades that are looked up concurrently; bounds the database load of a flood of them. */
export const MAX_PENDING_UPGRADES = 256;
/** Time for the other side's close frame before the connection is cut. */
const CLOSE_TIMEOUT_MS = 2000;

/** `closeTimeout` is an option of ws that its published types lack. */
const SOCKET_OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  maxPayload: MAX_FRAME_BYTES,
  perMessageDeflate: false,
  closeTimeout: CLOSE_TIMEOUT_MS,
  // Clients that request protocols get the first of them, as they expect.
  handleProtocols: (named) => {
    if (named.has(AUDIO_PROTOCOL)) return AUDIO_PROTOCOL;
    const [first = false] = named;
    return first;
  },
};

const CLOSE_NOT_UNDERSTOOD = 1003;
/** For the counter alone: the socket is closed already. */
const CLOSED_BEFORE = 1006;
const CLOSE_INTERNAL = 1011;
const CLOSE_RESTARTING = 1012;
const CLOSE_ALREADY_JOINED = 4409;
const CLOSE_ENDED = 4410;

export const CLOSE_REASONS: ReadonlyMap<number, string> = new Map([
  [CLOSE_NOT_UNDERSTOOD, "the stream cannot be understood"],
  [CLOSE_INTERNAL, "internal failure"],
  [CLOSE_RESTARTING, "the service is restarting"],
  [CLOSE_ALREADY_JOINED, "already joined"],
  [CLOSE_ENDED, "the call has ended"],
]);

export interface JoinSocketsOptions {
  readonly findJoin: FindClientJoin;
  readonly clientAddressOf: (request: IncomingMessage) => string;
  readonly connectCall: (input: ConnectCallInput) => ConnectOutcome | Promise<ConnectOutcome>;
  readonly requestIdOf: (request: IncomingMessage) => string;
  /** Writes the problem as the whole HTTP answer and ends the connection. */
  readonly refuse: (socket: Duplex, error: unknown, requestId: string) => void;
  readonly rooms: RoomUpgrades;
  readonly logger: Logger;
  /** The connection belongs to a call now. */
  readonly connected: (socket: Duplex) => void;
  /** Called once per attempt, for the metrics. */
  readonly counted: (outcome: string) => void;
}

/** The state of one attempt to join. */
interface Attempt {
  readonly request: IncomingMessage;
  readonly requestId: string;
}

export class JoinSockets {
  readonly #options: JoinSocketsOptions;
  readonly #sockets = new WebSocketServer(SOCKET_OPTIONS);
  #pending = 0;
  #draining = false;
  #closing = false;

  constructor(options: JoinSocketsOptions) {
    this.#options = options;
    this.#sockets.on("wsClientError", (error, socket, request) => {
      const detail = `The websocket handshake is not valid: ${error.message}.`;
      const requestId = options.requestIdOf(request);
      this.#refuse(new ApiError("validation_failed", detail), socket, { request, requestId });
    });
  }

  attach(server: Server): void {
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const attempt = { request, requestId: this.#options.requestIdOf(request) };
      socket.on("error", (error) => {
        this.#options.logger.debug(
          { err: error, requestId: attempt.requestId },
          "a join's connection failed",
        );
      });
      this.#pending += 1;
      this.#upgrade(attempt, socket, head)
        .catch((error: unknown) => this.#refuse(error, socket, attempt))
        .finally(() => {
          this.#pending -= 1;
        });
    });
  }

  /** New joins are refused with 503 from now on; lost calls may still reconnect. */
  drain(): void {
    this.#draining = true;
  }

  /** Closes remaining connections with 1012; `closeTimeout` cuts those that do not answer. */
  async close(): Promise<void> {
    this.#closing = true;
    const open = [...this.#sockets.clients, ...this.#options.rooms.clients];
    const closed = open.map(
      (socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())),
    );
    for (const socket of open) closeSocket(socket, CLOSE_RESTARTING);
    await Promise.all(closed);
  }

  async #upgrade(attempt: Attempt, socket: Duplex, head: Buffer): Promise<void> {
    const { request } = attempt;
    if (this.#pending > MAX_PENDING_UPGRADES) throw noCapacity("Too many joins are waiting");
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const signalled = parseSignalPath(path);
    if (signalled !== null) {
      const check = (): void => this.#checkOpen();
      check();
      await this.#options.rooms.upgrade(signalled, { request, socket, head, check });
      return;
    }
    const join = parseJoinPath(path);
    if (join === null) throw unknownAddress();
    const found = await this.#lookUp(join, request);
    if (socket.destroyed) return;
    this.#checkOpen();
    this.#sockets.handleUpgrade(request, socket, head, (connected) => {
      void this.#welcome(attempt, connected, join, found);
    });
  }

  /** `close` does not see sockets that are upgraded after it. */
  #checkOpen(): void {
    if (this.#closing) throw noCapacity("The service is shutting down");
  }

  /** Throws ApiError for a join that is refused before the upgrade. */
  async #lookUp(join: FindJoinInput, request: IncomingMessage): Promise<JoinLookup> {
    const found = await this.#options.findJoin(join, this.#options.clientAddressOf(request));
    checkJoin(found, { draining: this.#draining, closing: this.#closing });
    return found;
  }

  async #welcome(attempt: Attempt, socket: WebSocket, join: FindJoinInput, found: JoinLookup): Promise<void> {
    const { logger, counted } = this.#options;
    const fields = { requestId: attempt.requestId, callId: join.callId, medium: join.medium };
    // Frames and failures before the call listens must be neither lost nor uncaught.
    socket.pause();
    socket.on("error", (error) => logger.debug({ err: error, ...fields }, "a join socket failed"));
    let code: number | null;
    try {
      code = await this.#connect(attempt, socket, join, found);
    } catch (error) {
      logger.error({ err: error, ...fields }, "a call could not be connected");
      code = CLOSE_INTERNAL;
    }
    socket.resume();
    counted(code === null ? "connected" : String(code));
    logger.info({ ...fields, outcome: code ?? "connected" }, "join");
    if (code !== null && code !== CLOSED_BEFORE) closeSocket(socket, code);
  }

  /** Null when the call has taken the socket, otherwise the code to close it with. */
  async #connect(
    { request }: Attempt,
    socket: WebSocket,
    join: FindJoinInput,
    found: JoinLookup,
  ): Promise<number | null> {
    const { callId, medium } = join;
    const { connectCall, rooms, connected } = this.#options;
    if (found === "joined") return CLOSE_ALREADY_JOINED;
    const query = parseJoinQuery(new URLSearchParams((request.url ?? "").split("?").slice(1).join("?")));
    const instead = medium === "web_rtc" && socket.protocol === AUDIO_PROTOCOL;
    const isRoom = medium === "web_rtc" && !instead;
    const outcome = isRoom
      ? await rooms.open(join, socket, query, request.socket)
      : await connectCall({ callId, medium, socket, query, keepsAudio: instead });
    // The socket of a room belongs to its call when media flow.
    if (outcome === "connected" && !isRoom) connected(request.socket);
    if (outcome === "connected") return null;
    if (outcome === "closed") return CLOSED_BEFORE;
    if (outcome === "joined") return CLOSE_ALREADY_JOINED;
    if (outcome === "gone") return CLOSE_ENDED;
    if (outcome === "elsewhere") return CLOSE_RESTARTING;
    const { reason } = outcome;
    this.#options.logger.warn({ callId, medium, reason }, "the stream of a carrier cannot be served");
    return CLOSE_NOT_UNDERSTOOD;
  }

  #refuse(error: unknown, socket: Duplex, { request, requestId }: Attempt): void {
    const { logger, counted, refuse } = this.#options;
    const outcome = error instanceof ApiError ? error.code : "internal";
    const path = loggedPath(request.url ?? "");
    if (outcome === "internal") logger.error({ err: error, requestId, path }, "a join failed");
    else logger.info({ requestId, path, outcome }, "join refused");
    counted(outcome);
    refuse(socket, error, requestId);
  }
}

function closeSocket(socket: WebSocket, code: number): void {
  socket.close(code, CLOSE_REASONS.get(code));
}
