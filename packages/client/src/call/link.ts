/** One connection of a call, over any transport. A call may have several, one after the other. */

import type { CallError } from "./call-error.ts";

export type Transport = "webRtc" | "webSocket";

export interface LinkListener {
  /** A received data message. */
  text(text: string): void;
  /** The network is lost and may come back; `restart` may help. */
  lost(): void;
  /** The network came back. */
  found(): void;
  /** Closed permanently, and not by us. Null: the service has ended the call. */
  closed(error: CallError | null): void;
}

export interface Link {
  readonly transport: Transport;
  /** The agent's voice. */
  readonly output: MediaStream;
  /** Resolves when the call is joined by this link; rejects with a CallError. */
  readonly joined: Promise<void>;
  /** Bytes passed to `send` that are not sent yet. */
  readonly unsentBytes: number;
  /** False if the message cannot be sent now. */
  send(text: string): boolean;
  /** Sets the audio that the agent hears. */
  setTrack(track: MediaStreamTrack): Promise<void>;
  /**
   * Restarts the network connection. True: started, and `found` or `lost` reports the result. False: the service no
   * longer has this connection.
   * @throws CallError `network` if the service cannot be reached
   */
  restart(): Promise<boolean>;
  /** The browser's statistics of the connection; null without any. */
  stats(): Promise<RTCStatsReport | null>;
  /** Hangs up. Also works while the page unloads. */
  hangUp(): void;
  /** Closes the connection without ending the call. */
  drop(): void;
}
