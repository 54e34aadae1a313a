/** A phone over SIP on the loopback address: the user agent and the media of the service itself, used by the other side. */

import { vi } from "vitest";
import { TransportRecord } from "../src/ports/testing/transport-conformance.ts";
import type { LegTransport } from "../src/transports/rtc/leg.ts";
import type { RtpCodecName } from "../src/transports/rtc/rtp-media.ts";
import {
  DEFAULT_CODECS,
  openAnsweringSipMedia,
  openSipMedia,
  type SipMedia,
} from "../src/transports/sip/media/sip-media.ts";
import { mediaOptions, openLocalRtp } from "../src/transports/sip/media/testing/sip-phone.ts";
import { openLoopbackAgent } from "../src/transports/sip/testing/loopback-agent.ts";
import type {
  IncomingInvite,
  IncomingRefer,
  SipCall,
  SipCallEnd,
  SipCallListener,
  SipFailure,
  SipHeader,
  SipUserAgent,
} from "../src/transports/sip/user-agent.ts";

const FRAME_MS = 20;
/** Frames that are sent at once; the media hold 15. */
const MOST_LATE = 10;

export class PhoneCall {
  readonly record = new TransportRecord();
  readonly #pending: Int16Array[] = [];
  readonly refers: IncomingRefer[] = [];
  /** REFERs wait in `refers` for the test; false: they get 603. */
  takesRefers = false;
  failure: SipFailure | null = null;
  call: SipCall | null = null;
  end: SipCallEnd | null = null;
  transport: LegTransport | null = null;
  media: SipMedia | null = null;
  #timer: NodeJS.Timeout | null = null;

  readonly listener: SipCallListener = {
    offered: (sdp) => this.media?.answer(sdp) ?? null,
    offerWanted: () => this.media?.offer() ?? null,
    answered: (sdp) => this.media?.accept(sdp),
    digit: (key) => this.record.digit(key),
    referred: (refer) => {
      this.refers.push(refer);
      if (!this.takesRefers) refer.reject(603);
    },
    ended: (end) => {
      this.end = end;
      this.stop();
      this.transport?.hangUp();
    },
  };

  begin(media: SipMedia, call: SipCall): void {
    this.media = media;
    this.call = call;
    this.transport = media.attach(this.record);
    const silence = new Int16Array((this.transport.outputSampleRateHz * FRAME_MS) / 1_000);
    const beganMs = performance.now();
    let sent = 0;
    // A busy machine is late: what is due is sent then, so that the speech keeps its pace.
    this.#timer = setInterval(() => {
      const due = Math.floor((performance.now() - beganMs) / FRAME_MS);
      for (sent = Math.max(sent, due - MOST_LATE); sent < due; sent += 1) {
        this.transport?.sendAudio(this.#pending.shift() ?? silence);
      }
    }, FRAME_MS);
  }

  get rateHz(): number {
    return this.transport?.outputSampleRateHz ?? 0;
  }

  /** Samples at the rate of the line. */
  say(samples: Int16Array): void {
    const length = (this.rateHz * FRAME_MS) / 1_000;
    for (let at = 0; at + length <= samples.length; at += length) {
      this.#pending.push(samples.slice(at, at + length));
    }
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

export class SipPhone {
  readonly #agent: SipUserAgent;
  readonly #calls: PhoneCall[] = [];
  readonly #waiting: IncomingInvite[];
  readonly #codecs: readonly RtpCodecName[];

  constructor(agent: SipUserAgent, waiting: IncomingInvite[], codecs: readonly RtpCodecName[]) {
    this.#agent = agent;
    this.#waiting = waiting;
    this.#codecs = codecs;
  }

  get port(): number {
    return this.#agent.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
  }

  /** Calls an address by the service at `port`. */
  async call(to: string, port: number, headers: readonly SipHeader[] = []): Promise<PhoneCall> {
    const media = await openSipMedia(mediaOptions(openLocalRtp, { codecs: this.#codecs }));
    const made = new PhoneCall();
    this.#calls.push(made);
    made.media = media;
    this.#agent.invite(
      {
        to,
        from: '"Ann" <sip:+4930123456@127.0.0.1>',
        credentials: null,
        outboundProxy: `sip:127.0.0.1:${String(port)};lr`,
        offer: media.offer(),
        headers,
      },
      {
        progressed: () => undefined,
        failed: (failure) => {
          made.failure = failure;
        },
        answered: (call, answer) => {
          media.accept(answer);
          made.begin(media, call);
          return made.listener;
        },
      },
    );
    return made;
  }

  /** The next call that comes in. */
  async invited(): Promise<IncomingInvite> {
    await vi.waitFor(
      () => {
        if (this.#waiting.length === 0) throw new Error("nobody has called");
      },
      { timeout: 60_000, interval: 20 },
    );
    const invite = this.#waiting.shift();
    if (invite === undefined) throw new Error("nobody has called");
    return invite;
  }

  async answer(invite: IncomingInvite): Promise<PhoneCall> {
    const taken = new PhoneCall();
    this.#calls.push(taken);
    const options = mediaOptions(openLocalRtp, { codecs: this.#codecs });
    const { media, answer } = await openAnsweringSipMedia(invite.offer ?? "", options);
    taken.begin(media, invite.accept(answer, taken.listener));
    return taken;
  }

  async close(): Promise<void> {
    for (const call of this.#calls) {
      call.stop();
      await call.media?.close();
    }
    await this.#agent.close();
  }
}

export async function openSipPhone(codecs: readonly RtpCodecName[] = DEFAULT_CODECS): Promise<SipPhone> {
  const waiting: IncomingInvite[] = [];
  const agent = await openLoopbackAgent({
    invited: (invite) => waiting.push(invite),
    logged: () => undefined,
    faulted: (error) => {
      throw error;
    },
  });
  return new SipPhone(agent, waiting, codecs);
}
