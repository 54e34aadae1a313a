/** The webRtc medium: Opus by RTP both ways, data messages by the data channel `messages`. */

import { randomInt } from "node:crypto";
import type { ServerDataMessage } from "@parley/schema";
import { FRAME_MS, frameSamples } from "../../media/frame.ts";
import { RtpTimes } from "../../media/rtp-times.ts";
import { silence } from "../../media/silence.ts";
import type { TransportListener } from "../../ports/transport.ts";
import { OPUS_RATE_HZ, WEBRTC_AHEAD_MS, type WebRtcTransportOptions } from "../rtc/leg.ts";
import { LifeSigns } from "../rtc/life-signs.ts";
import type { PeerTransport } from "../rtc/local-leg.ts";
import type { OpusCodec } from "../rtc/opus.ts";
import type { Peer } from "../rtc/peer.ts";
import { ReceivedAudio } from "../rtc/received-audio.ts";

/** Silence after the last frame of speech, so that the other side's decoder ends softly and makes nothing up. */
const TAIL_FRAMES = 10;
/** A frame this late is followed by the tail. */
const TAIL_AFTER_MS = 3 * FRAME_MS;
/** UTF-8 bytes of one data message; longer ones are reported and cut off. */
const LONGEST_MESSAGE_BYTES = 256 * 1024;
const CUT_MESSAGE_BYTES = 1_024;
/** Messages that wait for the data channel, which opens a few round trips after the audio. */
const MAX_WAITING_MESSAGES = 256;
/** Unsent bytes at which the other side counts as gone, for it does not read. */
const STUCK_BYTES = 4 * 1024 * 1024;
/** How often the watchdog looks. */
const WATCH_MS = 250;
/** Wait for the library to let go of a connection. */
const CLOSE_WAIT_MS = 2_000;
/**
 * Messages and packets taken in one `WATCH_MS`; what is beyond it is dropped. 1,000 packets a second are 20 times real
 * time.
 */
const MAX_PIECES = 250;
const MAX_TEXTS = 250;
/** Results of tools are counted apart, so that a flood of other messages displaces none. */
const MAX_RESULTS = 250;
const RESULT_MARK = "_tool_result";

const CODE_REGULAR = 1000;
const CODE_ABNORMAL = 1006;

/** Takes over a connected peer and the codec. The listener is not called before this has returned. */
export function openWebRtcTransport(
  peer: Peer,
  codec: OpusCodec,
  options: WebRtcTransportOptions,
  listener: TransportListener,
): PeerTransport {
  return new WebRtcTransport(peer, codec, options, listener);
}

class WebRtcTransport implements PeerTransport {
  readonly inputSampleRateHz = OPUS_RATE_HZ;
  readonly outputSampleRateHz = OPUS_RATE_HZ;
  readonly aheadMs = WEBRTC_AHEAD_MS;
  readonly #peer: Peer;
  readonly #codec: OpusCodec;
  readonly #listener: TransportListener;
  readonly #silenceLimitMs: number;
  readonly #mayReturn: boolean;
  readonly #received: ReceivedAudio;
  readonly #times = new RtpTimes(randomInt(2 ** 16), randomInt(2 ** 32));
  readonly #waiting: string[] = [];
  readonly #signs = new LifeSigns();
  readonly #watch: NodeJS.Timeout;
  #tailTimer: NodeJS.Timeout | null = null;
  #tailLeft = 0;
  #channelOpen = false;
  #pieces = 0;
  #texts = 0;
  #results = 0;
  #closing = false;
  #closed = false;

  constructor(peer: Peer, codec: OpusCodec, options: WebRtcTransportOptions, listener: TransportListener) {
    this.#peer = peer;
    this.#codec = codec;
    this.#listener = listener;
    this.#silenceLimitMs = options.silenceLimitMs;
    this.#mayReturn = options.mayReturn ?? false;
    this.#received = new ReceivedAudio(codec, (samples) => this.#hear(samples));
    this.#watch = setInterval(() => this.#look(), WATCH_MS);
    setImmediate(() => {
      if (!this.#closed) this.#attach();
    });
  }

  sendAudio(frame: Int16Array): boolean {
    if (this.#closing || this.#closed) return false;
    this.#tailLeft = TAIL_FRAMES;
    if (this.#tailTimer !== null) clearTimeout(this.#tailTimer);
    this.#tailTimer = setTimeout(this.#tail, TAIL_AFTER_MS);
    this.#send(frame);
    return true;
  }

  sendData(message: ServerDataMessage): void {
    this.sendText(JSON.stringify(message));
  }

  sendText(text: string): void {
    if (this.#closing || this.#closed) return;
    if (!this.#channelOpen) {
      if (this.#waiting.length < MAX_WAITING_MESSAGES) this.#waiting.push(text);
      return;
    }
    this.#peer.sendText(text);
    if (this.#peer.unsentBytes > STUCK_BYTES) this.#lose();
  }

  probe(limitMs: number): Promise<boolean> {
    if (this.#closed || this.#closing) return Promise.resolve(false);
    return this.#signs.probe(limitMs);
  }

  close(code: number): void {
    if (this.#closing || this.#closed) return;
    this.#closing = true;
    const over = setTimeout(() => this.#over(code === CODE_REGULAR, code), CLOSE_WAIT_MS);
    void this.#peer.close().finally(() => {
      clearTimeout(over);
      this.#over(code === CODE_REGULAR, code);
    });
  }

  hangUp(): void {
    void this.#peer.close();
    this.#over(true, CODE_REGULAR);
  }

  restarting(): void {
    this.#signs.restart();
  }

  #attach(): void {
    const active = (act: () => void) => {
      if (!this.#closing && !this.#closed) act();
    };
    this.#peer.listen({
      sign: () => this.#signs.heard(),
      packet: (piece) => {
        this.#pieces += 1;
        if (this.#pieces <= MAX_PIECES) active(() => this.#received.push(piece, performance.now()));
      },
      text: (message) => {
        if (this.#isTaken(message)) active(() => this.#read(message));
      },
      channelOpened: () => active(() => this.#openChannel()),
      hungUp: () => (this.#mayReturn ? this.#lose() : this.hangUp()),
    });
  }

  #isTaken(message: Buffer): boolean {
    this.#texts += 1;
    if (this.#texts <= MAX_TEXTS) return true;
    if (!message.includes(RESULT_MARK)) return false;
    this.#results += 1;
    return this.#results <= MAX_RESULTS;
  }

  #openChannel(): void {
    this.#channelOpen = true;
    for (const text of this.#waiting.splice(0)) this.#peer.sendText(text);
  }

  #hear(samples: Int16Array): void {
    if (!this.#closing && !this.#closed) this.#listener.audio(samples);
  }

  #read(message: Buffer): void {
    if (message.byteLength <= LONGEST_MESSAGE_BYTES) this.#listener.data(message.toString("utf8"), false);
    else this.#listener.data(message.toString("utf8", 0, CUT_MESSAGE_BYTES), true);
  }

  #send(frame: Int16Array): void {
    this.#peer.sendAudio(this.#codec.encode(frame), this.#times.next(performance.now()));
  }

  readonly #tail = (): void => {
    this.#tailTimer = null;
    if (this.#closing || this.#closed || this.#tailLeft === 0) return;
    this.#tailLeft -= 1;
    this.#send(silence(frameSamples(OPUS_RATE_HZ)));
    if (this.#tailLeft > 0) this.#tailTimer = setTimeout(this.#tail, FRAME_MS);
  };

  #look(): void {
    this.#pieces = 0;
    this.#texts = 0;
    this.#results = 0;
    if (this.#closing) return;
    const nowMs = performance.now();
    this.#received.tick(nowMs);
    if (this.#signs.silentMs > this.#silenceLimitMs) this.#lose();
  }

  #lose(): void {
    void this.#peer.close();
    this.#over(false, CODE_ABNORMAL);
  }

  #over(regular: boolean, code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#watch);
    if (this.#tailTimer !== null) clearTimeout(this.#tailTimer);
    this.#signs.close();
    this.#codec.close();
    this.#listener.closed(regular, code);
  }
}
