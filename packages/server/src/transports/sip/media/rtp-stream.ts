/** Both directions of one RTP stream and their reports, without sockets. Time comes in as a number. */

import { randomInt } from "node:crypto";
import { RTP_CLOCK_HZ, type MediaFigures, type RtpMedia } from "../../rtc/rtp-media.ts";
import { type ReceiverListener, RtpReceiver } from "./rtp-receiver.ts";
import { RtpSender } from "./rtp-sender.ts";
import { rtcpPacketOf } from "./rtcp.ts";
import type { Place } from "./source-latch.ts";

/** Between two reports, on average; each wait is between a half and one and a half of it (RFC 3550, section 6.2). */
const REPORT_EVERY_MS = 5_000;
/**
 * Packets of a call to an address that the other side has named, from which no media have come and the signalling comes
 * neither: 10 s. Whoever names somebody else's address has that much sent there, however often it is changed.
 */
export const MAX_UNCONFIRMED_PACKETS = 500;
/** A name of the source that says nothing about this machine. */
const CNAME_BITS = 48;

export interface Clocks {
  readonly nowMs: number;
  /** ms since 1970. */
  readonly wallMs: number;
}

export interface StreamListener extends ReceiverListener {
  played(position: number): void;
  figures(figures: MediaFigures): void;
  sendRtp(datagram: Buffer, place: Place): void;
  /** @param isMuxed by the port of RTP */
  sendRtcp(datagram: Buffer, place: Place, isMuxed: boolean): void;
}

export class RtpStream {
  readonly #listener: StreamListener;
  readonly #receiver: RtpReceiver;
  readonly #sender: RtpSender;
  readonly #cname = randomInt(2 ** CNAME_BITS - 1).toString(36);
  readonly #played: (position: number) => void;
  #media: RtpMedia | null = null;
  #agreeing: Promise<void> = Promise.resolve();
  #reportAtMs: number | null = null;
  #unconfirmed = 0;
  #isClosed = false;

  constructor(sampleRateHz: number, listener: StreamListener) {
    this.#listener = listener;
    this.#played = (position) => listener.played(position);
    this.#receiver = new RtpReceiver(sampleRateHz, listener);
    this.#sender = new RtpSender(sampleRateHz, {
      bits16: () => randomInt(2 ** 16),
      bits32: () => randomInt(2 ** 32),
    });
  }

  /** In the order in which they were agreed on. Resolves when they are in use. */
  agree(media: RtpMedia): Promise<void> {
    const agreed = this.#agreeing.then(() => this.#agree(media));
    // What fails is reported to its caller, and must not stop the next ones.
    this.#agreeing = agreed.catch(() => undefined);
    return agreed;
  }

  async #agree(media: RtpMedia): Promise<void> {
    if (this.#isClosed) return;
    await this.#receiver.agree(media);
    await this.#sender.agree(media);
    this.#media = media;
    this.#receiver.ownSsrc = this.#sender.ssrc;
    if (this.#isClosed) this.#release();
  }

  push(frame: Int16Array): boolean {
    return this.#sender.push(frame);
  }

  relay(frame: Int16Array): boolean {
    return this.#sender.relay(frame);
  }

  playMusic(samples: Int16Array | null): void {
    this.#sender.playMusic(samples);
  }

  mark(position: number): void {
    this.#sender.mark(position);
  }

  clear(): void {
    this.#sender.clear();
  }

  digits(digits: string): void {
    this.#sender.digits(digits);
  }

  rtp(datagram: Buffer, from: Place, nowMs: number): void {
    this.#receiver.rtp(datagram, from, nowMs);
  }

  rtcp(datagram: Buffer, from: Place, clocks: Clocks): void {
    this.#receiver.rtcp(datagram, from, clocks);
  }

  /** 20 ms have passed. */
  next(clocks: Clocks): void {
    const datagram = this.#sender.next(this.#played);
    const place = this.#receiver.place;
    if (datagram !== null && place !== null && this.#maySend) {
      if (!this.#isConfirmed) this.#unconfirmed += 1;
      this.#listener.sendRtp(datagram, place);
    }
    this.#receiver.tick(clocks.nowMs);
    this.#reportAtMs ??= nextReportMs(clocks.nowMs);
    if (clocks.nowMs >= this.#reportAtMs) this.#report(clocks, false);
  }

  get #isConfirmed(): boolean {
    return this.#receiver.hasHeard || this.#media?.isConfirmed === true;
  }

  get #maySend(): boolean {
    return this.#isConfirmed || this.#unconfirmed < MAX_UNCONFIRMED_PACKETS;
  }

  skip(frames: number): void {
    this.#sender.skip(frames);
  }

  /** Sends the last report. Idempotent. */
  close(clocks: Clocks): void {
    if (this.#isClosed) return;
    this.#report(clocks, true);
    this.#isClosed = true;
    // Codecs that are being opened are closed when they are open.
    void this.#agreeing.then(() => this.#release());
  }

  #release(): void {
    this.#sender.close();
    this.#receiver.close();
  }

  #report({ nowMs, wallMs }: Clocks, isLast: boolean): void {
    this.#reportAtMs = nextReportMs(nowMs);
    const place = this.#receiver.rtcpPlace;
    if (this.#media === null || place === null || !this.#maySend) return;
    const report = rtcpPacketOf({
      ssrc: this.#sender.ssrc,
      cname: this.#cname,
      sender: this.#sender.info(wallMs),
      block: this.#receiver.reception.block(nowMs),
      isLast,
    });
    this.#listener.sendRtcp(this.#sender.sealed(report), place, this.#media.isMuxed);
    this.#listener.figures(this.#figures(this.#media));
  }

  #figures({ send }: RtpMedia): MediaFigures {
    const { reception, remote, roundTripMs } = this.#receiver;
    const { packetsReceived, packetsLost, jitterMs } = reception;
    return {
      packetsSent: this.#sender.packetsSent,
      packetsReceived,
      packetsLost,
      jitterMs,
      roundTripMs,
      remote:
        remote === null
          ? null
          : {
              packetsLost: remote.packetsLost,
              jitterMs: (remote.jitter * 1_000) / RTP_CLOCK_HZ[send.codec],
            },
    };
  }
}

function nextReportMs(nowMs: number): number {
  return nowMs + REPORT_EVERY_MS / 2 + randomInt(REPORT_EVERY_MS);
}
