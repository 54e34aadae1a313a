/**
 * The auxiliary websocket of one call (D125 to D127): dialled by us, data messages both ways, a copy of the call's audio
 * out. Implementations dial, sign, and try again by themselves; nothing that goes wrong throws.
 */

import type { ServerDataMessage } from "@parley/schema";

export interface DataConnectionRequest {
  readonly callId: string;
  /** ws or wss. */
  readonly websocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each signs the upgrade request; empty: no signature. */
  readonly sharedSecrets: readonly string[];
}

export type DataConnectionProblem =
  /** A binary frame came; audio is not taken here. Told once in a call. */
  | "data_connection_audio_ignored"
  /** The send buffer passed its limit; audio is dropped until it has gone down. Told at each beginning of that. */
  | "data_connection_congested";

export interface DataConnectionListener {
  /** Also after a loss. */
  opened(): void;
  /** A text frame, not yet parsed; `tooLong` when it passed the message limit and `text` was cut off. */
  data(text: string, tooLong: boolean): void;
  problem(problem: DataConnectionProblem): void;
  /** An open connection is gone. `willRetry`: another attempt follows, and then `opened` or `failed`. */
  lost(detail: string, willRetry: boolean): void;
  /** There will be none any more. */
  failed(detail: string): void;
}

export interface DataConnection {
  /** One frame as it is to be on the wire; false when it was dropped. */
  sendAudio(frame: Int16Array): boolean;
  /** Dropped while there is no connection. */
  send(message: ServerDataMessage): void;
  /** Resolves within a bounded time, when no socket is left. The listener is not called any more. Idempotent. */
  close(): Promise<void>;
}

/** The listener is not called before this has returned. */
export type OpenDataConnection = (
  request: DataConnectionRequest,
  listener: DataConnectionListener,
) => DataConnection;
