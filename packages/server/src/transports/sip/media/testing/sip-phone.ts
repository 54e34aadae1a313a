/** A phone for tests: RTP of its own on the loopback, and descriptions for the signalling that a test plays itself. */

import type { TransportListener } from "../../../../ports/transport.ts";
import { TransportRecord } from "../../../../ports/testing/transport-conformance.ts";
import type { HostedLeg } from "../../../rtc/hosted-leg.ts";
import type { LegTransport, OpenRtpLeg, RtpLeg } from "../../../rtc/leg.ts";
import type { MediaFigures, RtpCodecName } from "../../../rtc/rtp-media.ts";
import { openHostedRtpLeg } from "../hosted-rtp-leg.ts";
import { openAnsweringSipMedia, openSipMedia, type SipMedia, type SipMediaOptions } from "../sip-media.ts";

const LOOPBACK = { bind: "127.0.0.1", announced: "127.0.0.1" };
const OWNER = { callId: "call", accountId: "account" };

/** RTP ports in the thread that asks for them. */
export const openLocalRtp: OpenRtpLeg = async (options) => localLeg(await openHostedRtpLeg(options));

const hostedLegs = new WeakMap<RtpLeg, HostedLeg>();

function localLeg(leg: HostedLeg): RtpLeg {
  const { opening } = leg;
  if (opening.kind !== "rtp") throw new Error("another kind of leg");
  let last: MediaFigures | null = null;
  const rtpLeg: RtpLeg = {
    port: opening.port,
    rtcpPort: opening.rtcpPort,
    get figures() {
      return last;
    },
    agree: (media) => void leg.agree?.(media),
    attach: (options, listener) =>
      leg.attach(
        { kind: "rtp", ...options },
        {
          audio: (samples) => listener.audio(samples),
          data: (text, tooLong) => listener.data(text, tooLong),
          problem: (problem) => listener.problem(problem),
          digit: (key) => listener.digit(key),
          played: (position) => listener.played(position),
          closed: (regular, code) => listener.closed(regular, code),
          figures: (figures) => (last = figures),
        },
      ),
    playMusic: (samples) => leg.transport?.playMusic?.(samples),
    bridge: (other) => {
      const [first, second] = [leg.transport, hostedLegs.get(other)?.transport ?? null];
      if (first === null || second === null) return false;
      first.relayTo?.(second);
      second.relayTo?.(first);
      return true;
    },
    close: () => leg.close(),
  };
  hostedLegs.set(rtpLeg, leg);
  return rtpLeg;
}

export function mediaOptions(openRtp: OpenRtpLeg, changes: Partial<SipMediaOptions> = {}): SipMediaOptions {
  return {
    openRtp,
    owner: OWNER,
    ipv4: LOOPBACK,
    ipv6: null,
    portRange: null,
    encryption: "off",
    signallingAddress: "127.0.0.1",
    mayUse: () => true,
    ...changes,
  };
}

export interface SipPhoneOptions {
  readonly openRtp: OpenRtpLeg;
  readonly codec: RtpCodecName;
  readonly isSecure?: boolean;
  /** The phone calls the service, and not the other way round. */
  readonly isCalling?: boolean;
  readonly silenceLimitMs?: number;
}

export interface ConnectedPhone {
  readonly media: SipMedia;
  readonly transport: LegTransport;
  readonly phone: {
    readonly media: SipMedia;
    readonly transport: LegTransport;
    readonly record: TransportRecord;
  };
  /** An offer of the phone in the call, and the answer to it. */
  readonly renegotiate: (offer: string) => void;
  readonly dispose: () => Promise<void>;
}

/** A call between the service and a phone that has one codec. */
export async function connectPhone(
  options: SipPhoneOptions,
  listener: TransportListener,
): Promise<ConnectedPhone> {
  const { openRtp, codec, isSecure = false, isCalling = false, silenceLimitMs } = options;
  const encryption = isSecure ? "required" : "off";
  const ours = mediaOptions(openRtp, {
    encryption,
    ...(silenceLimitMs === undefined ? {} : { silenceLimitMs }),
  });
  const theirs = mediaOptions(openLocalRtp, { encryption, codecs: [codec], silenceLimitMs: 60_000 });
  let [media, phoneMedia]: (SipMedia | null)[] = [null, null];
  if (isCalling) {
    phoneMedia = await openSipMedia(theirs);
    const answering = await openAnsweringSipMedia(phoneMedia.offer(), ours);
    media = answering.media;
    phoneMedia.accept(answering.answer);
  } else {
    media = await openSipMedia(ours);
    const answering = await openAnsweringSipMedia(media.offer(), theirs);
    phoneMedia = answering.media;
    media.accept(answering.answer);
  }
  const record = new TransportRecord();
  const [called, phone] = [media, phoneMedia];
  return {
    media: called,
    transport: called.attach(listener),
    phone: { media: phone, transport: phone.attach(record), record },
    renegotiate: (offer) => phone.accept(called.answer(offer)),
    dispose: async () => {
      await called.close();
      await phone.close();
    },
  };
}
