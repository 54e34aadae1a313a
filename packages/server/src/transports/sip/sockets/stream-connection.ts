/** One connection: framing, what waits to be sent, and when it is closed. */

import type { Socket } from "node:net";
import type { Clock } from "../../../pacing/clock.ts";
import { StreamFraming } from "../message/framing.ts";
import type { SendFailed } from "../transactions/wire.ts";
import { NotSent } from "./send-failure.ts";

interface ConnectionOptions {
  readonly clock: Clock;
  readonly socket: Socket;
  /** We have opened it. */
  readonly isOurs: boolean;
  readonly isSecure: boolean;
  /** Asked for each message and each keep-alive, before it is read. False: the source has sent too many. */
  readonly admit: () => boolean;
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
/** Messages that were not admitted, without one in between that was. A peer that goes on then is not waited for. */
export const MAX_REFUSED_IN_A_ROW = 200;

const PONG = Buffer.from("\r\n");

export class StreamConnection {
  readonly #options: ConnectionOptions;
  readonly #unsent = new Set<SendFailed>();
  #stopTimer: () => void;
  #refused = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const { socket, isOurs, isSecure } = options;
    this.#stopTimer = options.clock.after(isOurs ? CONNECT_LIMIT_MS : FIRST_MESSAGE_MS, () => {
      this.close(new NotSent(isOurs ? "The peer does not answer" : "No message in time"));
    });
    const framing = new StreamFraming({
      message: (bytes) => {
        this.#watchIdle();
        if (this.#isAdmitted()) options.message(bytes);
      },
      pinged: () => {
        if (this.#isAdmitted()) this.send(PONG, () => undefined);
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
    socket.on("error", (error) => {
      this.close(error);
    });
    socket.on("close", () => {
      this.close();
    });
    socket.on("end", () => {
      this.close();
    });
  }

  send(bytes: Buffer, failed: SendFailed): void {
    const { socket } = this.#options;
    if (!this.#isClosed && socket.writableLength > MAX_UNSENT_BYTES) {
      this.close(new NotSent("The peer does not read"));
      queueMicrotask(() => failed(new NotSent("The peer does not read")));
      return;
    }
    if (this.#isClosed) {
      queueMicrotask(() => failed());
      return;
    }
    this.#unsent.add(failed);
    socket.write(bytes, (error) => {
      if (!this.#unsent.delete(failed)) return;
      if (error !== null && error !== undefined) failed(error);
    });
  }

  /** @param error why, for those whose messages were not sent */
  close(error?: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopTimer();
    this.#options.socket.destroy();
    this.#options.closed();
    const unsent = [...this.#unsent];
    this.#unsent.clear();
    queueMicrotask(() => {
      for (const failed of unsent) failed(error);
    });
  }

  #isAdmitted(): boolean {
    if (this.#isClosed) return false;
    const isAdmitted = this.#options.admit();
    this.#refused = isAdmitted ? 0 : this.#refused + 1;
    if (this.#refused > MAX_REFUSED_IN_A_ROW && !this.#options.isOurs) this.close();
    return isAdmitted;
  }

  #watchIdle(): void {
    this.#stopTimer();
    if (this.#isClosed) return;
    this.#stopTimer = this.#options.clock.after(IDLE_LIMIT_MS, () => {
      this.close();
    });
  }
}
