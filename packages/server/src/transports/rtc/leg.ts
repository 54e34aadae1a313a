/**
 * The media of one call, wherever they run: a peer connection of WebRTC or a pair of RTP ports, with its codecs, and
 * later the call's medium.
 */

import { FRAME_MS } from "../../media/frame.ts";
import type { Transport, TransportListener } from "../../ports/transport.ts";
import type { PeerOptions } from "./peer.ts";
import type { MediaFigures, RtpMedia, RtpSocketOptions } from "./rtp-media.ts";

/** Of both directions: what the engines of hearing take, so that nothing is resampled on the way to them. */
export const OPUS_RATE_HZ = 16_000;

/** Two frames: a tick that is late by one is not heard, and an interruption cuts off 40 ms at most. */
export const WEBRTC_AHEAD_MS = 2 * FRAME_MS;

export const DEFAULT_SILENCE_LIMIT_MS = 10_000;

export interface WebRtcTransportOptions {
  /** Nothing at all came for so long: the other side is gone. */
  readonly silenceLimitMs: number;
  /** How long the call waits for the return of a lost connection. Unset: as the plan says. */
  readonly graceMs?: number;
  /** The other side ends calls by signalling: where it ends the connection alone, it may return. Unset: false. */
  readonly mayReturn?: boolean;
}

export interface RtpTransportOptions extends WebRtcTransportOptions {
  /** Of both directions, whatever codecs are agreed on later. */
  readonly sampleRateHz: number;
  readonly outputEncoding: "pcm" | "mulaw";
}

/** Whose call a leg is for: its account decides about its thread, and the call is named in the log. */
export interface LegOwner {
  readonly callId: string;
  readonly accountId: string;
  /** The leg is to be in the thread that has one of this call, so that the two can be bridged. */
  readonly besideCallId?: string | null;
}

export interface LegTransport extends Transport {
  /** The other side has hung up by a request. */
  hangUp(): void;
}

export interface Leg {
  /** SDP of the answer to the first offer. */
  readonly answer: string;
  /** Resolves when media flow, false when that did not come about within the limit or the leg was closed. */
  readonly connected: Promise<boolean>;
  /** Makes it the medium of a call; once. The listener is not called before this has returned. */
  attach(options: WebRtcTransportOptions, listener: TransportListener): LegTransport;
  /** A further offer, as `Peer.restart`; silence counts from now. Resolves to the answer. */
  restart(offer: string): Promise<string>;
  /** Releases everything; an attached transport reports its own `closed`. Idempotent. */
  close(): Promise<void>;
}

/** @throws what the library makes of an offer that it cannot answer; NoPortError; NoLegError */
export type OpenLeg = (offer: string, options: PeerOptions, owner: LegOwner) => Promise<Leg>;

/** A pair of RTP ports; media are agreed on elsewhere. */
export interface RtpLeg {
  readonly port: number;
  readonly rtcpPort: number;
  /** From now on media are these. Before the first time nothing is sent or taken. */
  agree(media: RtpMedia): void;
  /** Makes it the medium of a call; once. The listener is not called before this has returned. */
  attach(options: RtpTransportOptions, listener: TransportListener): LegTransport;
  /** Of the last report, at most 5 s old while media flow; null before the first one. */
  readonly figures: MediaFigures | null;
  /** Plays samples at the rate of the transport in a loop, while nothing else is to be sent. Null: silence. */
  playMusic(samples: Int16Array | null): void;
  /**
   * From now on each side hears the other one, and the listeners of both get no audio and no keys. Both are media of
   * calls. False: they are in different threads, or one of them is gone.
   */
  bridge(other: RtpLeg): boolean;
  /** Releases everything; an attached transport reports its own `closed`. Idempotent. */
  close(): Promise<void>;
}

/** @throws NoPortError; NoLegError */
export type OpenRtpLeg = (options: RtpSocketOptions, owner: LegOwner) => Promise<RtpLeg>;
