/**
 * Port for the auxiliary websocket of one call (D125 to D127): the service dials it, data messages go both ways, and a
 * copy of the call's audio goes out. Implementations dial, sign and retry by themselves; no failure throws.
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
  /** A binary frame came; audio is not accepted here. Reported once per call. */
  | "data_connection_audio_ignored"
  /** The send buffer passed its limit; audio is dropped until it has drained. Reported each time that this begins. */
  | "data_connection_congested";

export interface DataConnectionListener {
  /** Also after a loss. */
  opened(): void;
  /** A text frame, not yet parsed; `tooLong` when it passed the message limit and `text` was cut off. */
  data(text: string, tooLong: boolean): void;
  problem(problem: DataConnectionProblem): void;
  /** An open connection is gone. `willRetry`: another attempt follows, and then `opened` or `failed`. */
  lost(detail: string, willRetry: boolean): void;
  /** There will be no more connections. */
  failed(detail: string): void;
}

export interface DataConnection {
  /** Sends one frame as it goes on the wire; false when it was dropped. */
  sendAudio(frame: Int16Array): boolean;
  /** Dropped while there is no connection. */
  send(message: ServerDataMessage): void;
  /** Resolves within a bounded time, when no socket is left. No listener call follows. Idempotent. */
  close(): Promise<void>;
}

/** The listener is not called before this has returned. */
export type OpenDataConnection = (
  request: DataConnectionRequest,
  listener: DataConnectionListener,
) => DataConnection;
