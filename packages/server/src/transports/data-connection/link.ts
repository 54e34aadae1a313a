/** One websocket of a data connection, from the attempt to open it to its close. */

import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { bytesOfSamples } from "../../media/pcm.ts";
import { ReadWindow } from "../read-window.ts";

/** Opens the socket under a websocket, as `createConnection` of `node:http`; it comes by the callback. */
export type CreateConnection = (
  options: object,
  created: (error: Error | null, socket: Socket) => void,
) => undefined;

export interface LinkOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly createConnection: CreateConnection;
  readonly after: (delayMs: number, fire: () => void) => () => void;
  readonly opened: () => void;
  readonly text: (text: string, tooLong: boolean) => void;
  readonly binary: () => void;
  /** Exactly once, also when it was never open. */
  readonly closed: (cause: Error) => void;
}

export interface Link {
  sendAudio(frame: Int16Array): boolean;
  sendText(text: string): void;
  close(code: number): void;
  /** At once, without a word to the other side. */
  cut(): void;
}

/** Name, connection, TLS and upgrade together; then the next attempt begins. */
const HANDSHAKE_LIMIT_MS = 10_000;
/** UTF-8 bytes of one data message; longer ones are reported and cut off. */
const LONGEST_MESSAGE_BYTES = 256 * 1024;
/** How much of a message that is too long is handed on, for the report. */
const CUT_MESSAGE_BYTES = 1_024;
/** A frame above this is not read at all: the connection ends with 1009. As for clients. */
const LONGEST_FRAME_BYTES = 1024 * 1024;
/** Unsent bytes at which audio is dropped: 2.7 s of mono at 48 kHz. Messages go first. */
const CONGESTED_BYTES = 256 * 1024;
/** Unsent bytes at which the other side counts as gone, for it does not read: messages alone got us here. */
const STUCK_BYTES = 4 * 1024 * 1024;
/** As for clients: two silent intervals mean that the other side is gone. */
const KEEPALIVE_MS = 15_000;

/** Throws what the client library refuses at once, such as a URL that is none. */
export function dial(options: LinkOptions): Link {
  const url = new URL(options.url);
  // Never sent, and refused by the client library.
  url.hash = "";
  const socket = new WebSocket(url, {
    headers: { ...options.headers },
    createConnection: options.createConnection as never,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: LONGEST_FRAME_BYTES,
  });
  return new SocketLink(socket, options);
}

class SocketLink implements Link {
  readonly #socket: WebSocket;
  readonly #options: LinkOptions;
  readonly #reading: ReadWindow;
  #cancelTimer: () => void;
  #cause: Error | null = null;
  #heard = true;
  #silentIntervals = 0;

  constructor(socket: WebSocket, options: LinkOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#reading = new ReadWindow(socket, (data, isBinary) => {
      this.#read(data, isBinary);
    });
    this.#cancelTimer = options.after(HANDSHAKE_LIMIT_MS, () => {
      this.#cause ??= new Error(`no answer within ${String(HANDSHAKE_LIMIT_MS / 1_000)} s`);
      socket.terminate();
    });
    socket.on("open", () => {
      this.#cancelTimer();
      this.#keepAlive();
      options.opened();
    });
    socket.on("message", (data: Buffer, isBinary) => {
      this.#heard = true;
      this.#reading.take(data, isBinary);
    });
    for (const sign of ["ping", "pong"] as const) {
      socket.on(sign, () => {
        this.#heard = true;
      });
    }
    // `close` always follows.
    socket.on("error", (error) => {
      this.#cause ??= error;
    });
    socket.on("close", (code) => {
      this.#cancelTimer();
      this.#reading.close();
      options.closed(this.#cause ?? new Error(`closed with ${String(code)}`));
    });
  }

  sendAudio(frame: Int16Array): boolean {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#socket.bufferedAmount > CONGESTED_BYTES) {
      return false;
    }
    // The frame belongs to the caller, and the library may keep what it cannot send at once.
    this.#socket.send(bytesOfSamples(frame).slice(), ignoreSendError);
    return true;
  }

  sendText(text: string): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > STUCK_BYTES) {
      this.#cause ??= new Error("the receiver does not read");
      this.#socket.terminate();
      return;
    }
    this.#socket.send(text, ignoreSendError);
  }

  close(code: number): void {
    this.#reading.close();
    if (this.#socket.isPaused) this.#socket.resume();
    this.#socket.close(code);
  }

  cut(): void {
    this.#cancelTimer();
    this.#reading.close();
    this.#socket.terminate();
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#options.binary();
    else if (data.byteLength <= LONGEST_MESSAGE_BYTES) this.#options.text(data.toString("utf8"), false);
    else this.#options.text(data.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
  }

  #keepAlive(): void {
    this.#cancelTimer = this.#options.after(KEEPALIVE_MS, () => {
      this.#silentIntervals = this.#heard ? 0 : this.#silentIntervals + 1;
      this.#heard = false;
      if (this.#silentIntervals >= 2) {
        this.#cause ??= new Error("no response");
        this.#socket.terminate();
        return;
      }
      if (this.#socket.readyState === WebSocket.OPEN)
        this.#socket.ping(undefined, undefined, ignoreSendError);
      this.#keepAlive();
    });
  }
}

/** What could not be sent is told by `close`, which follows. */
function ignoreSendError(): void {}
