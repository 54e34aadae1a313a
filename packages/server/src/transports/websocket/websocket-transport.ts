/** The serverWebSocket medium: raw s16le mono in binary frames, data messages in text frames. */

import type { ServerDataMessage } from "@parley/schema";
import type { WebSocket } from "ws";
import { FRAME_MS } from "../../media/frame.ts";
import { bytesOfSamples, samplesOfBytes } from "../../media/pcm.ts";
import type { Transport, TransportListener } from "../../ports/transport.ts";
import { ReadWindow } from "../read-window.ts";

export interface WebSocketTransportOptions {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  /** How much unplayed audio the client keeps, in ms. */
  readonly clientBufferSizeMs: number;
  /** Unset: that of the plan. */
  readonly graceMs?: number;
}

/** Audio of one binary frame; longer ones are dropped whole. */
const LONGEST_FRAME_MS = 1_000;
/** UTF-8 bytes of one data message; longer ones are reported and cut off. */
const LONGEST_MESSAGE_BYTES = 256 * 1024;
/** How much of a message that is too long is handed on, for the report. */
const CUT_MESSAGE_BYTES = 1_024;
/** Unsent bytes at which audio is dropped: 2.7 s at 48 kHz, more than a network that will recover holds back. */
const CONGESTED_BYTES = 256 * 1024;
/** Unsent bytes at which the other side counts as gone, for it does not read: data messages alone got us here. */
const STUCK_BYTES = 4 * 1024 * 1024;
/** Idle proxies cut quiet connections after 30 to 60 s; two silent intervals mean that the other side is gone. */
const KEEPALIVE_MS = 15_000;
/** Wait for the other side's close frame before the connection is cut. */
const CLOSE_WAIT_MS = 2_000;
/** Longest close reason that fits a close frame (RFC 6455, section 5.5). */
const LONGEST_REASON_BYTES = 123;

const CODE_ABNORMAL = 1006;
const REGULAR_CODES: ReadonlySet<number> = new Set([1000, 1001, 1005]);

/** Misaligned frames are copied here; used only within one call. */
const scratch = new Int16Array(48_000);

/** Takes over an open socket. The listener is not called before this has returned. */
export function openWebSocketTransport(
  socket: WebSocket,
  options: WebSocketTransportOptions,
  listener: TransportListener,
): Transport {
  return new WebSocketTransport(socket, options, listener);
}

class WebSocketTransport implements Transport {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly aheadMs: number;
  readonly graceMs: number | null;
  readonly #socket: WebSocket;
  readonly #listener: TransportListener;
  readonly #longestFrame: number;
  #keepalive: NodeJS.Timeout | null;
  #closeWait: NodeJS.Timeout | null = null;
  readonly #reading: ReadWindow;
  #heardAtMs = performance.now();
  #congested = false;
  /** We closed; nothing more is handed on. */
  #closing = false;
  #closed = false;

  constructor(socket: WebSocket, options: WebSocketTransportOptions, listener: TransportListener) {
    this.inputSampleRateHz = options.inputSampleRateHz;
    this.outputSampleRateHz = options.outputSampleRateHz;
    this.aheadMs = Math.max(FRAME_MS, options.clientBufferSizeMs);
    this.graceMs = options.graceMs ?? null;
    this.#socket = socket;
    this.#listener = listener;
    this.#reading = new ReadWindow(socket, (data, isBinary) => {
      this.#read(data, isBinary);
    });
    this.#longestFrame = (options.inputSampleRateHz * LONGEST_FRAME_MS) / 1_000;
    this.#keepalive = setInterval(() => {
      this.#checkPeer();
    }, KEEPALIVE_MS);
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

  sendAudio(frame: Int16Array): boolean {
    if (this.#closing || this.#closed || this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.#socket.bufferedAmount > CONGESTED_BYTES) {
      if (!this.#congested) this.#listener.problem("congested");
      this.#congested = true;
      return false;
    }
    this.#congested = false;
    this.#socket.send(bytesOfSamples(frame), ignoreSendError);
    return true;
  }

  sendData(message: ServerDataMessage): void {
    if (this.#closing || this.#closed || this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > STUCK_BYTES) {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(JSON.stringify(message), ignoreSendError);
  }

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

  readonly #onMessage = (data: Buffer, isBinary: boolean): void => {
    this.#heardAtMs = performance.now();
    if (this.#closing || this.#closed) return;
    this.#reading.take(data, isBinary);
  };

  #read(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#audio(data);
    else if (data.byteLength > LONGEST_MESSAGE_BYTES) {
      this.#listener.data(data.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
    } else this.#listener.data(data.toString("utf8"), false);
  }

  readonly #onSign = (): void => {
    this.#heardAtMs = performance.now();
  };

  readonly #onClose = (code: number): void => {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#keepalive !== null) clearInterval(this.#keepalive);
    this.#reading.close();
    if (this.#closeWait !== null) clearTimeout(this.#closeWait);
    this.#keepalive = null;
    this.#socket.off("message", this.#onMessage);
    this.#socket.off("ping", this.#onSign);
    this.#socket.off("pong", this.#onSign);
    this.#socket.off("close", this.#onClose);
    this.#listener.closed(REGULAR_CODES.has(code), code);
  };

  #audio(data: Buffer): void {
    if (data.byteLength > this.#longestFrame * 2 + 1) {
      this.#listener.problem("frame_too_long");
      return;
    }
    if (data.byteLength % 2 === 1) this.#listener.problem("odd_bytes");
    const samples = samplesOfBytes(data, scratch);
    if (samples.length > 0) this.#listener.audio(samples);
  }

  #checkPeer(): void {
    if (performance.now() - this.#heardAtMs > KEEPALIVE_MS * 1.9) {
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
