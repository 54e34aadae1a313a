/** One peer connection, as much of it as a call needs. Another WebRTC library takes part by carrying this out. */

import type { RtpPiece } from "../../media/rtp-order.ts";
import type { RtpPlace } from "../../media/rtp-times.ts";

export interface PeerListener {
  /** Anything at all came from the other side, checks of the path included. */
  sign(): void;
  /** An Opus packet. */
  packet(piece: RtpPiece): void;
  /** A message of the data channel `messages`. */
  text(message: Buffer): void;
  /** The data channel takes messages from now on. */
  channelOpened(): void;
  /** The other side has hung up. Once, and not after `close`. A side that is gone without a word is only silent. */
  hungUp(): void;
}

export interface Peer {
  /** SDP of the answer to the first offer. */
  readonly answer: string;
  /** Resolves when media flow, false when that did not come about within the limit or the peer was closed. */
  readonly connected: Promise<boolean>;
  /** Events before this are lost, but for texts, of which a few are kept. */
  listen(listener: PeerListener): void;
  sendAudio(payload: Uint8Array, place: RtpPlace): void;
  /** False while the data channel is not open. */
  sendText(text: string): boolean;
  /** Bytes given to the data channel that are not on their way. */
  readonly unsentBytes: number;
  /** The other side restarts its network; resolves to the answer. */
  restart(offer: string): Promise<string>;
  /** Tells the other side; resolves when everything is let go of. Idempotent. */
  close(): Promise<void>;
}

export interface PeerOptions {
  /** Addresses of this machine on which media are taken; every one is bound. */
  readonly bindAddresses: readonly string[];
  /** First and last UDP port; null: any that is free. */
  readonly portRange: readonly [number, number] | null;
  /** From the answer to flowing media. */
  readonly connectLimitMs: number;
}

/** @throws what the library makes of an offer that it cannot answer; NoPortError */
export type OpenPeer = (offer: string, options: PeerOptions) => Promise<Peer>;

/** The one data channel that is listened to. */
export const CHANNEL_LABEL = "messages";

/** No address and port was free to take media. */
export class NoPortError extends Error {
  override readonly name = "NoPortError";
}

/** Whatever the offer says, nothing could take it now. */
export class NoLegError extends Error {
  override readonly name = "NoLegError";
}
