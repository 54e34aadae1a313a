/** What is received, counted as RFC 3550 counts it (appendix A.1, A.3 and A.8). Time comes in as a number. */

import { signed16 } from "../../../media/rtp-order.ts";
import type { ReportBlock } from "./rtcp.ts";

/** A jump further than this is a new numbering and no loss (appendix A.1). */
const MAX_DROPOUT = 3_000;
const MAX_MISORDER = 100;

/** Of one source. */
interface Source {
  readonly ssrc: number;
  first: number;
  /** With the turns of the sequence numbers. */
  highest: number;
  received: number;
  /** In ticks, times 16. */
  jitter: number;
  transit: number | null;
  /** At the last report. */
  expectedBefore: number;
  receivedBefore: number;
}

export class Reception {
  #source: Source | null = null;
  #clockHz = 8_000;
  /** Of the sources before. */
  #formerLost = 0;
  #formerReceived = 0;
  #lastReport: { readonly middle: number; readonly atMs: number } | null = null;

  get packetsReceived(): number {
    return this.#formerReceived + (this.#source?.received ?? 0);
  }

  get packetsLost(): number {
    return this.#formerLost + Math.max(0, lostOf(this.#source));
  }

  get jitterMs(): number {
    return (((this.#source?.jitter ?? 0) / 16) * 1_000) / this.#clockHz;
  }

  /** @param timestamp null: of a packet without audio, whose time does not say when it was recorded */
  packet(
    { ssrc, sequence }: { readonly ssrc: number; readonly sequence: number },
    timestamp: number | null,
    clockHz: number,
    nowMs: number,
  ): void {
    this.#clockHz = clockHz;
    const known = this.#source;
    const ahead = known === null ? 0 : signed16(sequence - (known.highest & 0xffff));
    if (known?.ssrc !== ssrc || ahead > MAX_DROPOUT || ahead < -MAX_MISORDER) this.#begin(ssrc, sequence);
    else {
      known.received += 1;
      known.highest = Math.max(known.highest, known.highest + ahead);
    }
    if (timestamp !== null) this.#measure(timestamp, nowMs);
  }

  /** The other side has sent a report about what it sends. */
  senderReport(middle: number, nowMs: number): void {
    this.#lastReport = { middle, atMs: nowMs };
  }

  /** For the next report; null: nothing was received. */
  block(nowMs: number): ReportBlock | null {
    const source = this.#source;
    if (source === null) return null;
    const expected = source.highest - source.first + 1;
    const expectedNow = expected - source.expectedBefore;
    const lostNow = expectedNow - (source.received - source.receivedBefore);
    source.expectedBefore = expected;
    source.receivedBefore = source.received;
    const fraction = expectedNow <= 0 || lostNow <= 0 ? 0 : Math.floor((lostNow * 256) / expectedNow);
    const last = this.#lastReport;
    return {
      ssrc: source.ssrc,
      fractionLost: Math.min(255, fraction),
      packetsLost: lostOf(source),
      highestSequence: source.highest % 2 ** 32,
      jitter: Math.floor(source.jitter / 16),
      lastReport: last?.middle ?? 0,
      sinceLastReport: last === null ? 0 : Math.min(2 ** 32 - 1, Math.round((nowMs - last.atMs) * 65.536)),
    };
  }

  #begin(ssrc: number, sequence: number): void {
    this.#formerLost += Math.max(0, lostOf(this.#source));
    this.#formerReceived += this.#source?.received ?? 0;
    this.#source = {
      ssrc,
      first: sequence,
      highest: sequence,
      received: 1,
      jitter: 0,
      transit: null,
      expectedBefore: 0,
      receivedBefore: 0,
    };
  }

  #measure(timestamp: number, nowMs: number): void {
    const source = this.#source;
    if (source === null) return;
    const transit = (nowMs * this.#clockHz) / 1_000 - timestamp;
    const difference = source.transit === null ? 0 : Math.abs(transit - source.transit);
    source.transit = transit;
    // Timestamps start again after 2^32 ticks, and with some senders after a pause. That is no jitter.
    if (difference > this.#clockHz) return;
    source.jitter += difference - source.jitter / 16;
  }
}

function lostOf(source: Source | null): number {
  return source === null ? 0 : source.highest - source.first + 1 - source.received;
}

/**
 * The round trip of a report about us (section 6.4.1), in ms; null where the other side has had no report of ours.
 *
 * @param nowMiddle the middle 32 bits of the time now
 */
export function roundTripMs(block: ReportBlock, nowMiddle: number): number | null {
  if (block.lastReport === 0) return null;
  const ticks = (nowMiddle - block.lastReport - block.sinceLastReport) | 0;
  return ticks < 0 ? null : (ticks * 1_000) / 65_536;
}
