/** Media by plain RTP or SRTP, as two sides have agreed on them: what a thread needs to send and to receive. */

/** Names of codecs as in `a=rtpmap`. */
export type RtpCodecName = "PCMU" | "PCMA" | "G722" | "opus";

export interface RtpFormat {
  readonly payloadType: number;
  readonly codec: RtpCodecName;
}

/** Telephone events (RFC 4733) as one side numbers them. */
export interface DigitFormat {
  readonly payloadType: number;
  readonly clockHz: number;
}

/** Master key and salt of AES_CM_128_HMAC_SHA1_80 (RFC 3711): 16 and 14 bytes. */
export interface SrtpKey {
  readonly key: Uint8Array;
  readonly salt: Uint8Array;
}

export interface RtpMedia {
  /** Where the other side wants to receive; the media may really come from, and go to, another place (symmetric RTP). */
  readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
  /**
   * The signalling comes from `remote.address`. False: the address is only named, and it may be that of somebody who
   * knows nothing of the call, so little is sent there before media come from it.
   */
  readonly isConfirmed: boolean;
  /** RTCP shares the port of RTP (RFC 5761). */
  readonly isMuxed: boolean;
  /** Addresses from which media without encryption are taken. */
  readonly sources: readonly string[];
  readonly send: RtpFormat;
  readonly receive: readonly RtpFormat[];
  readonly sendDigits: DigitFormat | null;
  readonly receiveDigits: readonly DigitFormat[];
  /** False while the other side holds the call: nothing is sent. */
  readonly isSending: boolean;
  /** False while it is held by us or plays music on hold: what comes is no speech of the call. */
  readonly isReceiving: boolean;
  /** Null: plain RTP. */
  readonly srtp: { readonly local: SrtpKey; readonly remote: SrtpKey } | null;
}

/** RFC 3551: clock rate and codec rate differ for G.722. */
export const RTP_CLOCK_HZ: Readonly<Record<RtpCodecName, number>> = {
  PCMU: 8_000,
  PCMA: 8_000,
  G722: 8_000,
  opus: 48_000,
};

/** Of the samples that a codec takes and gives here. */
export const CODEC_RATE_HZ: Readonly<Record<RtpCodecName, number>> = {
  PCMU: 8_000,
  PCMA: 8_000,
  G722: 16_000,
  opus: 16_000,
};

/**
 * How far ahead of real time the service may be: three frames. The thread sends one every 20 ms, so that a tick of the
 * main thread that is late by two is not heard, and an interruption takes back what has not been sent.
 */
export const RTP_AHEAD_MS = 60;

export interface RtpSocketOptions {
  /** IP address of this machine on which media are received. */
  readonly bindAddress: string;
  /** First and last UDP port; null: any that is free. RTP gets an even port, RTCP the next one. */
  readonly portRange: readonly [number, number] | null;
}

/** How well the media go, since the beginning. */
export interface MediaFigures {
  readonly packetsSent: number;
  readonly packetsReceived: number;
  /** Of those that the other side has sent; counted by sequence numbers, late ones are not lost. */
  readonly packetsLost: number;
  /** Interarrival jitter (RFC 3550, section 6.4.1). */
  readonly jitterMs: number;
  /** Null: the other side has sent no report about us. */
  readonly roundTripMs: number | null;
  /** What the other side reports about what it receives; null: no report. */
  readonly remote: { readonly packetsLost: number; readonly jitterMs: number } | null;
}
