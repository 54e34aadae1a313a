/** The serverWebSocket medium: raw s16le mono in binary frames, data messages in text frames. */

import type { ServerDataMessage } from "@parley/schema";
import type { WebSocket } from "ws";
import { FRAME_MS } from "../../media/frame.ts";
import { bytesOfSamples, samplesOfBytes } from "../../media/pcm.ts";
import type { Transport, TransportListener } from "../../ports/transport.ts";
import { isRegularClose, SocketLine } from "../socket-line.ts";

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
  readonly #listener: TransportListener;
  readonly #longestFrame: number;
  readonly #line: SocketLine;

  constructor(socket: WebSocket, options: WebSocketTransportOptions, listener: TransportListener) {
    this.inputSampleRateHz = options.inputSampleRateHz;
    this.outputSampleRateHz = options.outputSampleRateHz;
    this.aheadMs = Math.max(FRAME_MS, options.clientBufferSizeMs);
    this.graceMs = options.graceMs ?? null;
    this.#listener = listener;
    this.#longestFrame = (options.inputSampleRateHz * LONGEST_FRAME_MS) / 1_000;
    this.#line = new SocketLine(socket, {
      frame: (data, isBinary) => {
        this.#read(data, isBinary);
      },
      congested: () => {
        listener.problem("congested");
      },
      closed: (code) => {
        listener.closed(isRegularClose(code), code);
      },
    });
  }

  sendAudio(frame: Int16Array): boolean {
    return this.#line.sendAudio(bytesOfSamples(frame));
  }

  sendData(message: ServerDataMessage): void {
    this.#line.sendMessage(JSON.stringify(message));
  }

  probe(limitMs: number): Promise<boolean> {
    return this.#line.probe(limitMs);
  }

  close(code: number, reason: string): void {
    this.#line.close(code, reason);
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#audio(data);
    else if (data.byteLength > LONGEST_MESSAGE_BYTES) {
      this.#listener.data(data.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
    } else this.#listener.data(data.toString("utf8"), false);
  }

  #audio(data: Buffer): void {
    if (data.byteLength > this.#longestFrame * 2 + 1) {
      this.#listener.problem("frame_too_long");
      return;
    }
    if (data.byteLength % 2 === 1) this.#listener.problem("odd_bytes");
    const samples = samplesOfBytes(data, scratch);
    if (samples.length > 0) this.#listener.audio(samples);
  }
}
