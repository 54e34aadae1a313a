/** One connection: framing, what waits to be sent, and when it is closed. */

import type { Socket } from "node:net";
import type { Clock } from "../../../pacing/clock.ts";
import { StreamFraming } from "../message/framing.ts";
import { plainAddress } from "./inbound.ts";

interface ConnectionOptions {
  readonly clock: Clock;
  readonly socket: Socket;
  /** We have opened it. */
  readonly isOurs: boolean;
  readonly isSecure: boolean;
  readonly message: (bytes: Buffer) => void;
  readonly closed: () => void;
}

/** Connecting, with TLS. */
const CONNECT_LIMIT_MS = 10_000;
/** From a new peer until its first message. */
const FIRST_MESSAGE_MS = 10_000;
/** Without a byte: twice the refresh of a call. */
const IDLE_LIMIT_MS = 3_600_000;
/** A peer that does not read is closed; a message has up to 64 KB. */
const MAX_UNSENT_BYTES = 1_048_576;

const PONG = Buffer.from("\r\n");

export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #unsent = new Set<() => void>();
  #stopTimer: () => void;
  #isClosed = false;
  readonly address: string;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, isOurs, isSecure } = options;
    this.address = plainAddress(socket.remoteAddress ?? "");
    this.#stopTimer = options.clock.after(isOurs ? CONNECT_LIMIT_MS : FIRST_MESSAGE_MS, () => {
      this.close();
    });
    const framing = new StreamFraming({
      message: (bytes) => {
        this.#watchIdle();
        if (!this.#isClosed) options.message(bytes);
      },
      pinged: () => {
        this.send(PONG, () => undefined);
      },
      broken: () => {
        this.close();
      },
    });
    socket.setNoDelay(true);
    socket.on("data", (chunk) => {
      framing.push(chunk);
    });
    if (isOurs) {
      socket.once(isSecure ? "secureConnect" : "connect", () => {
        this.#watchIdle();
      });
    }
    socket.on("error", () => {
      this.close();
    });
    socket.on("close", () => {
      this.close();
    });
    socket.on("end", () => {
      this.close();
    });
  }

  send(bytes: Buffer, failed: () => void): void {
    const { socket } = this.#options;
    if (this.#isClosed) {
      queueMicrotask(failed);
      return;
    }
    if (socket.writableLength > MAX_UNSENT_BYTES) {
      this.close();
      queueMicrotask(failed);
      return;
    }
    this.#unsent.add(failed);
    socket.write(bytes, (error) => {
      if (!this.#unsent.delete(failed)) return;
      if (error !== null && error !== undefined) failed();
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    this.#options.socket.destroy();
    this.#options.closed();
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    queueMicrotask(() => {
      for (const failed of unsent) failed();
    });
  }

  #watchIdle(): void {
    this.#stopTimer();
    if (this.#isClosed) return;
    this.#stopTimer = this.#options.clock.after(IDLE_LIMIT_MS, () => {
      this.close();
    });
  }
}
