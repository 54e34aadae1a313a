/** Slows a flood down at its sender: frames of a websocket are handed on as fast as one call may take them. */

import type { WebSocket } from "ws";

/**
 * What one connection may send in a window before its reading waits for the next one, so that a flood slows its sender
 * down instead of the other calls. 512 KiB in 100 ms are more than 50 times real time at 48 kHz.
 */
const READ_WINDOW_MS = 100;
const WINDOW_MESSAGES = 256;
const WINDOW_BYTES = 512 * 1024;

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export class ReadWindow {
  readonly #socket: Pick<WebSocket, "isPaused" | "pause" | "resume">;
  readonly #read: (data: Buffer, isBinary: boolean) => void;
  /** Frames of the read that passed the window's limit: one read of the socket, at most 64 KiB. */
  readonly #deferred: Frame[] = [];
  #timer: NodeJS.Timeout | null = null;
  #messages = 0;
  #bytes = 0;
  #closed = false;

  constructor(
    socket: Pick<WebSocket, "isPaused" | "pause" | "resume">,
    read: (data: Buffer, isBinary: boolean) => void,
  ) {
    this.#socket = socket;
    this.#read = read;
  }

  /** Hands the frame on now, or in its turn. */
  take(data: Buffer, isBinary: boolean): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(this.#next, READ_WINDOW_MS);
    // What was deferred is older.
    if (this.#deferred.length > 0 || this.#isFull()) {
      this.#deferred.push({ data, isBinary });
      if (!this.#socket.isPaused) this.#socket.pause();
      return;
    }
    this.#hand({ data, isBinary });
  }

  /** Nothing is handed on any more. Idempotent. */
  close(): void {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#deferred.length = 0;
  }

  #hand({ data, isBinary }: Frame): void {
    this.#messages += 1;
    this.#bytes += data.byteLength;
    this.#read(data, isBinary);
  }

  #isFull(): boolean {
    return this.#messages >= WINDOW_MESSAGES || this.#bytes >= WINDOW_BYTES;
  }

  readonly #next = (): void => {
    this.#timer = null;
    this.#messages = 0;
    this.#bytes = 0;
    if (this.#deferred.length === 0) return;
    // Reading one may close this.
    while (!this.#closed && !this.#isFull()) {
      const frame = this.#deferred.shift();
      if (frame === undefined) break;
      this.#hand(frame);
    }
    if (this.#closed) return;
    if (this.#deferred.length > 0) this.#timer = setTimeout(this.#next, READ_WINDOW_MS);
    else if (this.#socket.isPaused) this.#socket.resume();
  };
}
