/** Opens one websocket to a vendor, with limits on everything that it may take or send. */

import type { ClientRequest, IncomingMessage } from "node:http";
import { type ClientOptions, WebSocket } from "ws";
import { abortError } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { bounded, networkFailure, refusalFailure } from "./failure-text.ts";

/** Name, connection, TLS and upgrade together. */
export const HANDSHAKE_LIMIT_MS = 10_000;
/** One message of a vendor: a minute of 24 kHz audio in base64 is 3.9 MB, and no vendor sends more than seconds. */
export const MAX_MESSAGE_BYTES = 4 * 1_024 * 1_024;
/** Unsent bytes at which the vendor counts as not reading. The texts of a sentence have some hundred bytes. */
export const MAX_UNSENT_BYTES = 1_024 * 1_024;
/** After this the connection is cut where the vendor does not answer a close. */
const CLOSE_LIMIT_MS = 1_000;
/** Of the body of a refused upgrade. */
const MAX_REFUSAL_BYTES = 4_096;
/** A refused upgrade whose body does not end is told with what has come. */
const REFUSAL_LIMIT_MS = 2_000;
/** Status code of a close without an error (RFC 6455, 7.4.1). */
const NORMAL_CLOSE = 1_000;

export interface DialOptions {
  /** The name of the vendor, for messages. */
  readonly vendor: string;
  /** `ws://` or `wss://`. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that no message may show, such as the key. */
  readonly secrets: readonly string[];
  /** Of the upgrade request. */
  readonly protocols?: readonly string[];
  readonly handshakeLimitMs?: number;
  readonly maxMessageBytes?: number;
  readonly maxUnsentBytes?: number;
}

export interface SocketListener {
  text(text: string): void;
  /** The bytes are the receiver's. */
  binary(bytes: Uint8Array): void;
  /** An answer to `ping`, or a ping of the vendor. */
  sign?(): void;
  /**
   * Exactly once, whoever closed. `failure` says it for people. `code` as in RFC 6455; 1006: the connection broke.
   */
  closed(failure: EngineFailure, code: number, reason: string): void;
}

export interface VendorSocket {
  readonly isOpen: boolean;
  /** What has not been given to the network yet. */
  readonly unsentBytes: number;
  /** Texts and bytes are copied. Throws `EngineFailure` when the socket is not open or the vendor does not read. */
  send(data: string | Uint8Array): void;
  ping(): void;
  /** Says goodbye, and cuts the connection when the vendor does not answer in time. Idempotent. */
  close(): void;
  /** At once, without a word to the vendor. */
  cut(): void;
}

/**
 * Resolves when the upgrade is accepted. The listener is asked for only then, and hears what follows, from the first
 * message on. Rejects with an `EngineFailure`, or with an `AbortError` when `signal` aborts first.
 */
export function dialSocket(
  options: DialOptions,
  listenerOf: (socket: VendorSocket) => SocketListener,
  signal?: AbortSignal,
): Promise<VendorSocket> {
  if (signal?.aborted === true) return Promise.reject(abortError());
  return new Promise((resolve, reject) => {
    const { vendor, url, headers, secrets, protocols = [] } = options;
    const limitMs = options.handshakeLimitMs ?? HANDSHAKE_LIMIT_MS;
    let ws: WebSocket;
    // The declarations of the library lack `closeTimeout`.
    const clientOptions: ClientOptions & { readonly closeTimeout: number } = {
      headers: { ...headers },
      followRedirects: false,
      perMessageDeflate: false,
      maxPayload: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
      closeTimeout: CLOSE_LIMIT_MS,
    };
    try {
      ws = new WebSocket(url, [...protocols], clientOptions);
    } catch (error) {
      // A header with a line break, or an address that is none.
      reject(networkFailure(vendor, error, secrets));
      return;
    }
    const settle = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    };
    const fail = (error: Error): void => {
      settle();
      ws.removeAllListeners();
      // The library reports the cut of an unfinished handshake as an error.
      ws.on("error", ignoreError);
      ws.terminate();
      reject(error);
    };
    const abort = (): void => {
      fail(abortError());
    };
    const timer = setTimeout(() => {
      fail(
        new EngineFailure(`${vendor} did not answer within ${String(limitMs / 1_000)} s`, {
          type: "timeout",
        }),
      );
    }, limitMs);
    signal?.addEventListener("abort", abort, { once: true });
    ws.once("error", (error) => {
      fail(networkFailure(vendor, error, secrets));
    });
    ws.once("unexpected-response", (request: ClientRequest, response: IncomingMessage) => {
      readRefusal(response, (body) => {
        request.destroy();
        fail(refusalFailure({ vendor, status: response.statusCode ?? 0, body, secrets }));
      });
    });
    ws.once("open", () => {
      settle();
      ws.removeAllListeners("error");
      const socket = new OpenSocket(ws, options);
      socket.listen(listenerOf(socket));
      resolve(socket);
    });
  });
}

/** Calls `done` once, with the beginning of the body. */
function readRefusal(response: IncomingMessage, done: (body: string) => void): void {
  const pieces: Buffer[] = [];
  let length = 0;
  let isDone = false;
  const finish = (): void => {
    if (isDone) return;
    isDone = true;
    clearTimeout(timer);
    done(Buffer.concat(pieces).subarray(0, MAX_REFUSAL_BYTES).toString("utf8"));
  };
  const timer = setTimeout(finish, REFUSAL_LIMIT_MS);
  response.on("data", (piece: Buffer) => {
    pieces.push(piece);
    length += piece.length;
    if (length >= MAX_REFUSAL_BYTES) finish();
  });
  response.on("end", finish);
  // A body that breaks off is told with what has come.
  response.on("error", finish);
  response.on("close", finish);
}

class OpenSocket implements VendorSocket {
  readonly #ws: WebSocket;
  readonly #options: DialOptions;
  #error: Error | null = null;
  #closedByUs = false;

  constructor(ws: WebSocket, options: DialOptions) {
    this.#ws = ws;
    this.#options = options;
  }

  listen(listener: SocketListener): void {
    const { vendor, secrets } = this.#options;
    this.#ws.on("message", (data: Buffer, isBinary) => {
      if (this.#closedByUs) return;
      if (isBinary) listener.binary(data);
      else listener.text(data.toString("utf8"));
    });
    for (const sign of ["ping", "pong"] as const) this.#ws.on(sign, () => listener.sign?.());
    // `close` always follows.
    this.#ws.on("error", (error) => {
      this.#error ??= error;
    });
    this.#ws.on("close", (code, reasonBytes) => {
      const reason = bounded(reasonBytes.toString("utf8"), secrets);
      const why =
        this.#error === null
          ? `code ${String(code)}${reason === "" ? "" : `: ${reason}`}`
          : bounded(this.#error.message, secrets);
      const words = this.#closedByUs ? "was closed" : `closed the connection (${why})`;
      listener.closed(new EngineFailure(`${vendor} ${words}`, { type: "closed" }), code, reason);
    });
  }

  get isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN && !this.#closedByUs;
  }

  get unsentBytes(): number {
    return this.#ws.bufferedAmount;
  }

  send(data: string | Uint8Array): void {
    const { vendor, maxUnsentBytes = MAX_UNSENT_BYTES } = this.#options;
    if (!this.isOpen) throw new EngineFailure(`${vendor} closed the connection`, { type: "closed" });
    if (this.#ws.bufferedAmount > maxUnsentBytes) {
      this.#error ??= new Error("it does not read what is sent to it");
      this.cut();
      throw new EngineFailure(`${vendor} does not read what is sent to it`, { type: "timeout" });
    }
    // The library may keep what it cannot send at once, and the bytes belong to the caller.
    this.#ws.send(typeof data === "string" ? data : data.slice(), ignoreError);
  }

  ping(): void {
    if (this.isOpen) this.#ws.ping(undefined, undefined, ignoreError);
  }

  close(): void {
    if (this.#closedByUs) return;
    this.#closedByUs = true;
    this.#ws.close(NORMAL_CLOSE);
  }

  cut(): void {
    this.#ws.terminate();
  }
}

/** What could not be sent is told by `close`, which follows. */
function ignoreError(): void {}
