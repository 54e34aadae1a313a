/**
 * The media of one call over SIP, as the application uses them: descriptions for the signalling on one side, the medium
 * of a call on the other. RTP ports and codecs are in a media thread.
 */

import { randomBytes, randomInt } from "node:crypto";
import { isIPv6 } from "node:net";
import type { TransportListener } from "../../../ports/transport.ts";
import type { LegOwner, LegTransport, OpenRtpLeg, RtpLeg } from "../../rtc/leg.ts";
import { CODEC_RATE_HZ, type MediaFigures, type RtpCodecName, type RtpMedia } from "../../rtc/rtp-media.ts";
import { KEY_BYTES, SALT_BYTES } from "../sdp/crypto.ts";
import { SdpError } from "../sdp/description.ts";
import { type Agreement, type MediaEncryption, OfferAnswer } from "../sdp/offer-answer.ts";
import { parseSdp } from "../sdp/parse.ts";

/** After this time without RTP in a call that is not held, the peer counts as lost. */
export const RTP_SILENCE_LIMIT_MS = 30_000;

/** The best one first. G.711 must be among them: every peer has it. */
export const DEFAULT_CODECS: readonly RtpCodecName[] = ["G722", "opus", "PCMU", "PCMA"];

/** Where media are received. */
export interface MediaAddress {
  /** IP address of this machine. */
  readonly bind: string;
  /** The IP address that other sides send to; the same where there is no NAT. */
  readonly announced: string;
}

export interface SipMediaOptions {
  readonly openRtp: OpenRtpLeg;
  readonly owner: LegOwner;
  /** Null: the family is not served. At least one of them. */
  readonly ipv4: MediaAddress | null;
  readonly ipv6: MediaAddress | null;
  readonly portRange: readonly [number, number] | null;
  readonly encryption: MediaEncryption;
  /** Default: `DEFAULT_CODECS`. */
  readonly codecs?: readonly RtpCodecName[];
  /** The IP address of the signalling: media may come from it although the description names another one. */
  readonly signallingAddress: string | null;
  /** Whether media may be sent to this IP address. Where they may not, `signallingAddress` takes its place. */
  readonly mayUse: (address: string) => boolean;
  /** In tests: `RTP_SILENCE_LIMIT_MS`. */
  readonly silenceLimitMs?: number;
}

export interface SipMedia {
  /** The other side has put the call on hold. */
  readonly isHeld: boolean;
  /** We hold the call. */
  readonly isHolding: boolean;
  /** The codec of what is sent; null before anything is agreed on. */
  readonly codec: RtpCodecName | null;
  readonly isEncrypted: boolean;
  readonly figures: MediaFigures | null;
  /** Answers an offer in the call. @throws SdpError: 488, and all stays as it was */
  answer(offer: string): string;
  /** An offer of ours: the first one, or a new one in the call; of several without an answer the last one counts. */
  offer(hold?: { readonly isHolding: boolean }): string;
  /** The answer to it. @throws SdpError: the offer is dropped, and all stays as it was */
  accept(answer: string): void;
  /** The other side has refused our offer, or offers something itself. */
  dropOffer(): void;
  /**
   * Makes it the medium of a call; once, and not before something is agreed on.
   *
   * @param sampleRateHz of both directions, where it is not that of the codec
   */
  attach(listener: TransportListener, sampleRateHz?: number): LegTransport;
  /** Plays samples at the rate of the transport in a loop, while nothing else is to be sent. Null: silence. */
  playMusic(samples: Int16Array | null): void;
  /** From now on each side hears the other one; see `RtpLeg.bridge`. */
  bridge(other: SipMedia): boolean;
  /** Negotiates the same media with somebody else, who gets them with the answer. Until then all stays as it is. */
  successor(encryption: MediaEncryption): SuccessorMedia;
  /** The other side is gone, and nobody has taken its place yet: nothing is sent, and silence ends nothing. */
  pause(): void;
  /** Releases the ports; an attached transport is closed. Idempotent. */
  close(): Promise<void>;
}

export interface SuccessorMedia {
  offer(): string;
  /** From now on the media are those of whoever has answered. @throws SdpError: all stays as it was */
  accept(answer: string): void;
}

/**
 * Media for a call that begins with an offer of ours.
 *
 * @throws NoPortError; NoLegError
 */
export async function openSipMedia(options: SipMediaOptions): Promise<SipMedia> {
  return open(options, options.ipv4 ?? options.ipv6);
}

/**
 * Media for a call that begins with an offer of the other side; `answer` is to be sent to it.
 *
 * @throws SdpError: 488, and nothing is open; NoPortError; NoLegError
 */
export async function openAnsweringSipMedia(
  offer: string,
  options: SipMediaOptions,
): Promise<{ readonly media: SipMedia; readonly answer: string }> {
  const media = await open(options, addressFor(offer, options));
  try {
    return { media, answer: media.answer(offer) };
  } catch (error) {
    await media.close();
    throw error;
  }
}

/** Of the family of the audio in the offer. @throws SdpError */
function addressFor(offer: string, { ipv4, ipv6 }: SipMediaOptions): MediaAddress {
  const { address, media } = parseSdp(offer);
  const theirs = media.find(({ kind, port }) => kind === "audio" && port !== 0)?.address ?? address;
  if (theirs === null) throw new SdpError("must have an IP address for audio (c=)");
  const own = isIPv6(theirs) ? ipv6 : ipv4;
  if (own !== null) return own;
  throw new SdpError(`has an ${isIPv6(theirs) ? "IPv6" : "IPv4"} address, which this service does not have`);
}

async function open(options: SipMediaOptions, address: MediaAddress | null): Promise<SipMedia> {
  if (address === null) throw new Error("there is no address for media");
  const { openRtp, owner, portRange } = options;
  const leg = await openRtp({ bindAddress: address.bind, portRange }, owner);
  return new LegMedia(leg, options, address.announced);
}

class LegMedia implements SipMedia {
  readonly #leg: RtpLeg;
  readonly #exchangeFor: (encryption: MediaEncryption, signallingAddress: string | null) => OfferAnswer;
  #exchange: OfferAnswer;
  readonly #silenceLimitMs: number;
  #media: RtpMedia | null = null;
  #transport: LegTransport | null = null;
  #isHeld = false;
  #isHolding = false;
  #offersHold = false;

  constructor(leg: RtpLeg, options: SipMediaOptions, address: string) {
    const { encryption, signallingAddress, mayUse, codecs = DEFAULT_CODECS } = options;
    this.#leg = leg;
    this.#silenceLimitMs = options.silenceLimitMs ?? RTP_SILENCE_LIMIT_MS;
    this.#exchangeFor = (wanted, signalling) =>
      new OfferAnswer({
        address,
        port: leg.port,
        rtcpPort: leg.rtcpPort,
        originId: String(randomInt(2 ** 47)),
        key: {
          key: Uint8Array.from(randomBytes(KEY_BYTES)),
          salt: Uint8Array.from(randomBytes(SALT_BYTES)),
        },
        encryption: wanted,
        codecs,
        signallingAddress: signalling,
        mayUse,
      });
    this.#exchange = this.#exchangeFor(encryption, signallingAddress);
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  get isHolding(): boolean {
    return this.#isHolding;
  }

  get codec(): RtpCodecName | null {
    return this.#media?.send.codec ?? null;
  }

  get isEncrypted(): boolean {
    return this.#media !== null && this.#media.srtp !== null;
  }

  get figures(): MediaFigures | null {
    return this.#leg.figures;
  }

  answer(offer: string): string {
    const { sdp, ...agreement } = this.#exchange.answer(offer, this.#isHolding);
    this.#agree(agreement);
    return sdp;
  }

  offer(hold?: { readonly isHolding: boolean }): string {
    this.#offersHold = hold?.isHolding ?? this.#isHolding;
    return this.#exchange.offer(this.#offersHold);
  }

  accept(answer: string): void {
    const agreement = this.#exchange.accept(answer);
    this.#isHolding = this.#offersHold;
    this.#agree(agreement);
  }

  dropOffer(): void {
    this.#exchange.dropOffer();
  }

  successor(encryption: MediaEncryption): SuccessorMedia {
    // Its own keys: those of this side are known to the other one.
    const exchange = this.#exchangeFor(encryption, null);
    return {
      offer: () => exchange.offer(false),
      accept: (answer) => {
        const agreement = exchange.accept(answer);
        this.#exchange = exchange;
        this.#isHolding = false;
        this.#offersHold = false;
        this.#agree(agreement);
      },
    };
  }

  pause(): void {
    if (this.#media === null) return;
    this.#agree({ media: { ...this.#media, isSending: false, isReceiving: false }, isHeld: true });
  }

  playMusic(samples: Int16Array | null): void {
    this.#leg.playMusic(samples);
  }

  bridge(other: SipMedia): boolean {
    if (!(other instanceof LegMedia) || this.#transport === null || other.#transport === null) return false;
    return this.#leg.bridge(other.#leg);
  }

  attach(listener: TransportListener, sampleRateHz?: number): LegTransport {
    const media = this.#media;
    if (media === null) throw new Error("no media are agreed on");
    if (this.#transport !== null) throw new Error("the media are those of a call already");
    const { codec } = media.send;
    this.#transport = this.#leg.attach(
      {
        silenceLimitMs: this.#silenceLimitMs,
        sampleRateHz: sampleRateHz ?? CODEC_RATE_HZ[codec],
        outputEncoding: codec === "PCMU" ? "mulaw" : "pcm",
      },
      listener,
    );
    return this.#transport;
  }

  close(): Promise<void> {
    return this.#leg.close();
  }

  #agree({ media, isHeld }: Agreement): void {
    this.#media = media;
    this.#isHeld = isHeld;
    this.#leg.agree(media);
  }
}
