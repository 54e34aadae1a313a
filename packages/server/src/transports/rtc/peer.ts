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

/** Why a peer was ended. */
export interface PeerFaults {
  readonly count: number;
  /** The last one: a sentence of ours, or the kind of an error. Never what was received. */
  readonly detail: string;
}

export interface Peer {
  /** SDP of the answer to the first offer. */
  readonly answer: string;
  /** Resolves when media flow, false when that did not come about within the limit or the peer was closed. */
  readonly connected: Promise<boolean>;
  /** Resolves when the peer is ended for the faults of the other side, otherwise never. */
  readonly faulty: Promise<PeerFaults>;
  /**
   * Counts an error of this connection that nobody has caught, and ends the peer for the last one that it may have.
   * False: it does not count, because anybody can send what breaks before the encryption stands.
   */
  fault(detail: string): boolean;
  /** Events before this are lost, but for texts, of which a few are kept. */
  listen(listener: PeerListener): void;
  sendAudio(payload: Uint8Array, place: RtpPlace): void;
  /** False while the data channel is not open. */
  sendText(text: string): boolean;
  /** Bytes given to the data channel that are not on their way. */
  readonly unsentBytes: number;
  /** A further offer: the other side restarts its network, or changes its media. Resolves to the answer. */
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
  /** Whose conventions the other side follows. Unset: those of our own clients. */
  readonly dialect?: "room";
}

/** What differs between kinds of clients on one peer connection. */
export interface PeerDialect {
  /** Of the data channel that carries the messages; others are ignored. */
  readonly channelLabel: string;
  /** Offers may have lines of video. They are answered, and nothing is sent or taken on them. */
  readonly allowsVideo: boolean;
  /** The mid of the audio line on which the service speaks; null: there is one audio line only. */
  speakingLine(offer: string): string | null;
  /** A data message as it goes over the channel. */
  encode(text: string): string | Buffer;
  /** The text of what came over the channel; null: it is no data message. @throws where it cannot be read */
  decode(message: Buffer): Buffer | null;
}

/** @throws what the library makes of an offer that it cannot answer; NoPortError */
export type OpenPeer = (offer: string, options: PeerOptions) => Promise<Peer>;

/** The data channel of our own clients. */
export const CHANNEL_LABEL = "messages";

export const OWN_DIALECT: PeerDialect = {
  channelLabel: CHANNEL_LABEL,
  allowsVideo: false,
  speakingLine: () => null,
  encode: (text) => text,
  decode: (message) => message,
};

/** No address and port was free to take media. */
export class NoPortError extends Error {
  override readonly name = "NoPortError";
}

/** Whatever the offer says, nothing could take it now. */
export class NoLegError extends Error {
  override readonly name = "NoLegError";
}
