/** The serverWebSocket medium: raw s16le mono in binary frames, data messages in text frames. */

import type { WebSocket } from "ws";
import type { Transport, TransportListener } from "../../ports/transport.ts";

export interface WebSocketTransportOptions {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  /** How much unplayed audio the client keeps, in ms. */
  readonly clientBufferSizeMs: number;
}

/** Takes over an open socket; its frames reach `listener` from the next turn of the event loop on. */
export declare function openWebSocketTransport(
  socket: WebSocket,
  options: WebSocketTransportOptions,
  listener: TransportListener,
): Transport;
