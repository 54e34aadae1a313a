/**
 * One websocket as a line of a call: what every medium over a websocket needs, whatever its messages are. Keepalive,
 * the check whether the other side is there, a limit of unsent bytes, and a close that is over within two seconds.
 */

import type { WebSocket } from "ws";
import { ReadWindow } from "./read-window.ts";

/** Unsent bytes at which audio is dropped: 2.7 s at 48 kHz, more than a network that will recover holds back. */
const CONGESTED_BYTES = 256 * 1024;
/** Unsent bytes at which the other side counts as gone, for it does not read: messages alone got us here. */
const STUCK_BYTES = 4 * 1024 * 1024;
/** Idle proxies cut quiet connections after 30 to 60 s; two silent intervals mean that the other side is gone. */
const KEEPALIVE_MS = 15_000;
/** Wait for the other side's close frame before the connection is cut. */
const CLOSE_WAIT_MS = 2_000;
/** Longest close reason that fits a close frame (RFC 6455, section 5.5). */
const LONGEST_REASON_BYTES = 123;

const CODE_ABNORMAL = 1006;
/** The other side has hung up: regular, going away, and without a code. */
const REGULAR_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** Whether the other side has hung up. Otherwise the connection was lost. */
export function isRegularClose(code: number): boolean {
  return REGULAR_CODES.has(code);
}

export interface SocketLineListener {
  /** Not called after `close` of the line. */
  frame(data: Buffer, isBinary: boolean): void;
  /** Audio is being dropped from now on, because too much is unsent. */
  congested(): void;
  /** Exactly once, unless the line was detached. 1006: without a close frame. */
  closed(code: number): void;
}

export class SocketLine {
  readonly #socket: WebSocket;
  readonly #listener: SocketLineListener;
  readonly #reading: ReadWindow;
  #keepalive: NodeJS.Timeout | null = null;
  #keepaliveMs = KEEPALIVE_MS;
  #checkedAtMs = performance.now();
  #closeWait: NodeJS.Timeout | null = null;
  #heardAtMs = performance.now();
  #congested = false;
  /** We closed; nothing more is handed on. */
  #closing = false;
  #closed = false;

  /** Takes over an open socket. The listener is not called before this has returned. */
  constructor(socket: WebSocket, listener: SocketLineListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#reading = new ReadWindow(socket, (data, isBinary) => {
      listener.frame(data, isBinary);
    });
    this.checkEvery(KEEPALIVE_MS);
    socket.on("message", this.#onMessage);
    socket.on("ping", this.#onSign);
    socket.on("pong", this.#onSign);
    socket.on("close", this.#onClose);
    // A broken frame or a reset: `close` follows and carries what matters.
    socket.on("error", this.#onSign);
    noDelay(socket);
    if (socket.readyState >= socket.CLOSING) {
      setImmediate(() => {
        this.#onClose(CODE_ABNORMAL);
      });
    }
  }

  /** A silent connection is asked for a sign of life after this time, and cut when the same time passes without one. */
  checkEvery(intervalMs: number): void {
    if (this.#closed) return;
    if (this.#keepalive !== null) clearInterval(this.#keepalive);
    this.#keepaliveMs = intervalMs;
    this.#checkedAtMs = performance.now();
    this.#keepalive = setInterval(() => {
      this.#checkPeer();
    }, intervalMs);
  }

  /** False: it was dropped. */
  sendAudio(data: string | Uint8Array): boolean {
    if (!this.#isOpen()) return false;
    if (this.#socket.bufferedAmount > CONGESTED_BYTES) {
      if (!this.#congested) this.#listener.congested();
      this.#congested = true;
      return false;
    }
    this.#congested = false;
    this.#socket.send(data, ignoreSendError);
    return true;
  }

  /** Sent however much is unsent, up to the limit at which the connection is cut. */
  sendMessage(message: string | Uint8Array): void {
    if (!this.#isOpen()) return;
    if (this.#socket.bufferedAmount > STUCK_BYTES) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(message, ignoreSendError);
  }

  /** See `Transport.probe`. */
  probe(limitMs: number): Promise<boolean> {
    if (this.#closed || this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false);
    if (performance.now() - this.#heardAtMs <= limitMs) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (alive: boolean) => {
        clearTimeout(timer);
        for (const event of ["message", "ping", "pong"]) this.#socket.off(event, heard);
        this.#socket.off("close", lost);
        resolve(alive);
      };
      const heard = () => {
        settle(true);
      };
      const lost = () => {
        settle(false);
      };
      const timer = setTimeout(lost, limitMs);
      for (const event of ["message", "ping", "pong"]) this.#socket.on(event, heard);
      this.#socket.on("close", lost);
      this.#socket.ping(undefined, undefined, ignoreSendError);
    });
  }

  /** See `Transport.close`. */
  close(code: number, reason: string): void {
    if (this.#closing || this.#closed) return;
    this.#closing = true;
    this.#reading.close();
    this.#socket.close(code, cutReason(reason));
    this.#socket.resume();
    this.#closeWait = setTimeout(() => {
      this.#socket.terminate();
    }, CLOSE_WAIT_MS);
  }

  /** Leaves the socket to another owner, open as it is. The listener is not called any more. */
  detach(): void {
    if (!this.#closed) this.#release();
  }

  #isOpen(): boolean {
    return !this.#closing && !this.#closed && this.#socket.readyState === this.#socket.OPEN;
  }

  readonly #onMessage = (data: Buffer, isBinary: boolean): void => {
    this.#heardAtMs = performance.now();
    if (this.#closing || this.#closed) return;
    this.#reading.take(data, isBinary);
  };

  readonly #onSign = (): void => {
    this.#heardAtMs = performance.now();
  };

  readonly #onClose = (code: number): void => {
    if (this.#closed) return;
    this.#release();
    this.#listener.closed(code);
  };

  #release(): void {
    this.#closed = true;
    if (this.#keepalive !== null) clearInterval(this.#keepalive);
    this.#reading.close();
    if (this.#closeWait !== null) clearTimeout(this.#closeWait);
    this.#keepalive = null;
    this.#socket.off("message", this.#onMessage);
    this.#socket.off("ping", this.#onSign);
    this.#socket.off("pong", this.#onSign);
    this.#socket.off("close", this.#onClose);
  }

  #checkPeer(): void {
    const nowMs = performance.now();
    // After a standstill of this process, what has arrived meanwhile is read after this check.
    const isLate = nowMs - this.#checkedAtMs > this.#keepaliveMs * 1.5;
    this.#checkedAtMs = nowMs;
    if (!isLate && nowMs - this.#heardAtMs > this.#keepaliveMs * 1.9) {
      this.#socket.terminate();
      return;
    }
    if (this.#socket.readyState === this.#socket.OPEN) {
      this.#socket.ping(undefined, undefined, ignoreSendError);
    }
  }
}

/** What could not be sent is told by `close`, which follows. */
function ignoreSendError(): void {}

/** Frames of 20 ms must not wait for one another (Nagle). `ws` keeps its socket in an undocumented field. */
function noDelay(socket: WebSocket): void {
  const inner = (socket as unknown as { readonly _socket?: { setNoDelay?: (on: boolean) => void } })._socket;
  inner?.setNoDelay?.(true);
}

function cutReason(reason: string): string {
  const bytes = Buffer.from(reason, "utf8");
  if (bytes.byteLength <= LONGEST_REASON_BYTES) return reason;
  // A character that was cut in two becomes U+FFFD, three bytes again: leave it out.
  return bytes.toString("utf8", 0, LONGEST_REASON_BYTES).replace(/\uFFFD+$/, "");
}
