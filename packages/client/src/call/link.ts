/** One connection of a call, whatever carries it. A call may have several, one after the other. */

import type { CallError } from "./call-error.ts";

export type Transport = "webRtc" | "webSocket";

export interface LinkListener {
  /** A data message as it came. */
  text(text: string): void;
  /** The network is gone, and may come back: `restart` may help. */
  lost(): void;
  /** It came back. */
  found(): void;
  /** For good, and not by us. Null: the service has ended the call. */
  closed(error: CallError | null): void;
}

export interface Link {
  readonly transport: Transport;
  /** The agent's voice. */
  readonly output: MediaStream;
  /** Resolves when the call is joined by this link; rejects with a CallError. */
  readonly joined: Promise<void>;
  /** Bytes that were given to `send` and are not on their way. */
  readonly unsentBytes: number;
  /** False while it cannot be sent. */
  send(text: string): boolean;
  /** What the agent hears from now on. */
  setTrack(track: MediaStreamTrack): Promise<void>;
  /**
   * Begins anew with the network. True: it is under way, and `found` or `lost` tells what comes of it. False: the
   * service knows this connection no more.
   * @throws CallError `network` when the service cannot be reached
   */
  restart(): Promise<boolean>;
  /** What the browser measures of the connection; null where it measures nothing. */
  stats(): Promise<RTCStatsReport | null>;
  /** Hangs up. Works also while the page goes away. */
  hangUp(): void;
  /** Lets go of the connection without an end of the call. */
  drop(): void;
}
