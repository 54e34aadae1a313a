/**
 * Reorders RTP packets without a playout clock: late packets are passed on at once, missing ones are awaited briefly
 * and then reported as lost. `Intake` paces the stream.
 */

/** One audio packet as received. */
export interface RtpPiece {
  readonly ssrc: number;
  /** 16 bits. */
  readonly sequence: number;
  /** 32 bits, in samples of the RTP clock. */
  readonly timestamp: number;
  readonly payload: Uint8Array;
  /** What the sender calls the format of this packet. Unset: there is one format only. */
  readonly payloadType?: number;
  /** It has a sequence number and no audio, such as a key or comfort noise. Unset: false. */
  readonly hasNoAudio?: boolean;
}

export interface RtpOrderListener {
  packet(payload: Uint8Array, piece: RtpPiece): void;
  /** `frames` of 20 ms are missing before `next`, which follows by `packet` and may repeat the last of them (FEC). */
  lost(frames: number, next: Uint8Array, piece: RtpPiece): void;
}

/** Opus has one RTP clock at any rate (RFC 7587, section 4.1). */
export const OPUS_CLOCK_HZ = 48_000;
export const OPUS_FRAME_TICKS = OPUS_CLOCK_HZ / 50;

/** Opus packets hold at most 120 ms (RFC 6716, section 3.2.5), and other codecs are sent with 60 ms at most. */
const LONGEST_PACKET_FRAMES = 6;

/** Wait for a missing packet. Reordering in networks is a matter of a few milliseconds; more delays the whole turn. */
export const ORDER_WAIT_MS = 60;
/** Packets that wait behind a missing one: the same 60 ms, for a machine whose clock was held up. */
const MAX_WAITING = 3;
/** Frames made up for one gap. Beyond it concealment is a hum, and the intake fills the gap with silence. */
export const MAX_CONCEALED_FRAMES = 5;
/** Packets of the previous sender may be late by this; later ones mean that it has started again. */
export const FORMER_WAIT_MS = 500;
/** A jump further than this is a new numbering and no loss (RFC 3550, appendix A.1: 3000 and 100). */
const MAX_DROPOUT = 3_000;
const MAX_MISORDER = 100;

interface Waiting {
  readonly piece: RtpPiece;
  readonly atMs: number;
}

export class RtpOrder {
  readonly #listener: RtpOrderListener;
  readonly #frameTicks: number;
  readonly #waiting = new Map<number, Waiting>();
  #ssrc: number | null = null;
  /** The previous sender, and until when its packets count as late. */
  #former: { readonly ssrc: number; readonly untilMs: number } | null = null;
  #next = 0;
  #lastTimestamp = 0;
  /** Length of a packet, taken from the last two consecutive ones. */
  #packetTicks: number;

  /** @param frameTicks ticks of the RTP clock in 20 ms */
  constructor(listener: RtpOrderListener, frameTicks = OPUS_FRAME_TICKS) {
    this.#listener = listener;
    this.#frameTicks = frameTicks;
    this.#packetTicks = frameTicks;
  }

  push(piece: RtpPiece, nowMs: number): void {
    // Packets of the previous sender that are still on the way must not switch back to it.
    if (piece.ssrc === this.#former?.ssrc && nowMs < this.#former.untilMs) return;
    const ahead = signed16(piece.sequence - this.#next);
    if (piece.ssrc !== this.#ssrc || ahead > MAX_DROPOUT || ahead < -MAX_MISORDER) this.#begin(piece, nowMs);
    else if (ahead < 0) return;
    if (this.#waiting.has(piece.sequence)) return;
    this.#waiting.set(piece.sequence, { piece, atMs: nowMs });
    this.#release();
    this.tick(nowMs);
  }

  /** Advances the clock: releases packets that have waited too long for a missing one. */
  tick(nowMs: number): void {
    while (this.#waiting.size > 0 && (this.#waiting.size > MAX_WAITING || this.#hasWaited(nowMs))) {
      this.#skip();
      this.#release();
    }
  }

  /** Another sender, or the same with a new numbering. What waits is older. */
  #begin(piece: RtpPiece, nowMs: number): void {
    while (this.#waiting.size > 0) {
      this.#skip();
      this.#release();
    }
    const untilMs = nowMs + FORMER_WAIT_MS;
    if (this.#ssrc !== null && piece.ssrc !== this.#ssrc) this.#former = { ssrc: this.#ssrc, untilMs };
    this.#ssrc = piece.ssrc;
    this.#next = piece.sequence;
    this.#lastTimestamp = (piece.timestamp - this.#frameTicks) >>> 0;
  }

  #release(): void {
    for (;;) {
      const waiting = this.#waiting.get(this.#next);
      if (waiting === undefined) return;
      this.#waiting.delete(this.#next);
      this.#next = (this.#next + 1) & 0xffff;
      const { piece } = waiting;
      if (piece.hasNoAudio === true) continue;
      const ticks = (piece.timestamp - this.#lastTimestamp) >>> 0;
      if (ticks > 0 && ticks <= LONGEST_PACKET_FRAMES * this.#frameTicks) this.#packetTicks = ticks;
      this.#lastTimestamp = piece.timestamp;
      this.#listener.packet(piece.payload, piece);
    }
  }

  /** Goes on with the first packet that is there. */
  #skip(): void {
    let first: RtpPiece | null = null;
    for (const { piece } of this.#waiting.values()) {
      if (first === null || signed16(piece.sequence - first.sequence) < 0) first = piece;
    }
    if (first === null) return;
    const missing = signed16(first.sequence - this.#next);
    const frames = Math.max(1, Math.round((missing * this.#packetTicks) / this.#frameTicks));
    const concealed = Math.min(frames, MAX_CONCEALED_FRAMES);
    this.#next = first.sequence;
    // What is missing before a key is most likely a part of the key.
    if (first.hasNoAudio === true) return;
    this.#lastTimestamp = (first.timestamp - this.#packetTicks) >>> 0;
    if (missing > 0) this.#listener.lost(concealed, first.payload, first);
  }

  #hasWaited(nowMs: number): boolean {
    for (const { atMs } of this.#waiting.values()) {
      if (nowMs - atMs >= ORDER_WAIT_MS) return true;
    }
    return false;
  }
}

/** The shorter way round the 16 bits. */
export function signed16(difference: number): number {
  return ((difference & 0xffff) ^ 0x8000) - 0x8000;
}
