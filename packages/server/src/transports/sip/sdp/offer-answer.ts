/**
 * Offers and answers of one call (RFC 3264): what is agreed on follows from the descriptions alone. A description that
 * cannot be used changes nothing.
 */

import { isIP } from "node:net";
import type { RtpCodecName, RtpFormat, RtpMedia, SrtpKey } from "../../rtc/rtp-media.ts";
import { RTP_CLOCK_HZ } from "../../rtc/rtp-media.ts";
import { type CryptoLine, cryptoLines } from "./crypto.ts";
import {
  type Direction,
  directionOf,
  hasAttribute,
  isUnspecified,
  SdpError,
  type SdpMedia,
  type SdpDescription,
  valueOf,
} from "./description.ts";
import { checkPacketLength, digitsFor, type Formats, formatsOf, OUR_EVENTS, OUR_NUMBERS } from "./formats.ts";
import { parseSdp } from "./parse.ts";
import { type AudioLine, type RefusedLine, writeSdp } from "./write.ts";

/** Whether media are encrypted by SRTP. Keys are in the descriptions, so this needs TLS below the signalling. */
export type MediaEncryption =
  /** Never: the signalling is not encrypted. Offers that demand it are refused. */
  | "off"
  /** Where the other side offers it; our own offers have it. */
  | "allowed"
  /** Offers without it are refused. */
  | "required";

export interface LocalMedia {
  /** The IP address that the other side sends to, and its ports. */
  readonly address: string;
  readonly port: number;
  readonly rtcpPort: number;
  /** Digits; one for each call. */
  readonly originId: string;
  /** One for each call; `encryption` says whether it is used. */
  readonly key: SrtpKey;
  readonly encryption: MediaEncryption;
  /** Codecs in the order of our offers; at least one. Answers follow the order of the offer. */
  readonly codecs: readonly RtpCodecName[];
  /** The IP address of the signalling, from which media may come as well; null: not known. */
  readonly signallingAddress: string | null;
  /** Whether media may be sent to this IP address. Where they may not, `signallingAddress` takes its place. */
  readonly mayUse: (address: string) => boolean;
}

export interface Agreement {
  readonly media: RtpMedia;
  /** The other side has put us on hold. */
  readonly isHeld: boolean;
}

const SECURE = /^RTP\/SAVPF?$/;
const PLAIN = /^RTP\/AVPF?$/;
const OUR_TAG = "1";

/** Our offer that has no answer yet. */
interface OpenOffer {
  readonly line: AudioLine;
  /** Its place among the media lines. */
  readonly at: number;
  readonly isHolding: boolean;
}

export class OfferAnswer {
  readonly #local: LocalMedia;
  #version = 0;
  #open: OpenOffer | null = null;
  #lines: readonly (AudioLine | RefusedLine)[] = [];
  #codecNumbers: ReadonlyMap<RtpCodecName, number> = new Map();

  constructor(local: LocalMedia) {
    this.#local = local;
  }

  /** Of ours, without an answer. */
  get hasOpenOffer(): boolean {
    return this.#open !== null;
  }

  /**
   * Answers an offer. An open offer of ours is dropped.
   *
   * @param isHolding whether we hold the call
   * @throws SdpError
   */
  answer(offer: string, isHolding: boolean): Agreement & { readonly sdp: string } {
    const description = parseSdp(offer);
    const at = this.#chosen(description);
    const theirs = itemAt(description.media, at);
    const formats = formatsOf(theirs);
    const codec = this.#codecOf(formats.codecs);
    if (codec === undefined) throw new SdpError("has no codec that calls can have");
    checkPacketLength(theirs);
    const crypto = this.#cryptoOf(theirs);
    const agreed = this.#agreement(description, theirs, {
      send: codec,
      receive: [codec],
      formats,
      remoteKey: crypto?.key ?? null,
      isHolding,
    });
    const digits = digitsFor(formats.digits, RTP_CLOCK_HZ[codec.codec]);
    const line: AudioLine = {
      kind: "audio",
      port: this.#local.port,
      rtcpPort: agreed.media.isMuxed ? this.#local.port + 1 : this.#local.rtcpPort,
      profile: theirs.profile,
      codecs: [codec],
      digits: digits === null ? [] : [digits],
      direction: answeredDirection(directionOf(description, theirs), isHolding),
      isMuxed: agreed.media.isMuxed,
      crypto: crypto === null ? null : { tag: crypto.tag, key: this.#local.key },
    };
    this.#open = null;
    this.#codecNumbers = new Map(formats.codecs.map((format) => [format.codec, format.payloadType]));
    this.#lines = description.media.map((media, index) => (index === at ? line : refused(media)));
    return { ...agreed, sdp: this.#written(this.#lines) };
  }

  /** An offer of ours: the first one, or a new one in a call. A former one without an answer is dropped. */
  offer(isHolding: boolean): string {
    const { port, rtcpPort, codecs, encryption, key } = this.#local;
    const at = Math.max(
      0,
      this.#lines.findIndex(({ kind }) => kind === "audio"),
    );
    const former = this.#lines[at];
    const isFirst = former?.kind !== "audio";
    const isSecure = isFirst ? encryption !== "off" : former.crypto !== null;
    const offered = codecs.map((codec) => ({ codec, payloadType: this.#numberOf(codec) }));
    const clocks = new Set(codecs.map((codec) => RTP_CLOCK_HZ[codec]));
    const line: AudioLine = {
      kind: "audio",
      port,
      rtcpPort,
      profile: isSecure ? "RTP/SAVP" : "RTP/AVP",
      codecs: offered,
      digits: OUR_EVENTS.filter(({ clockHz }) => clocks.has(clockHz)),
      direction: isHolding ? "sendonly" : "sendrecv",
      isMuxed: true,
      crypto: isSecure ? { tag: OUR_TAG, key } : null,
    };
    this.#open = { line, at, isHolding };
    const lines = isFirst ? [line] : this.#lines.map((other, index) => (index === at ? line : other));
    return this.#written(lines);
  }

  /** @throws SdpError, which closes the offer; Error where there is no open offer. */
  accept(answer: string): Agreement {
    const open = this.#open;
    if (open === null) throw new Error("there is no offer that this could answer");
    this.#open = null;
    const description = parseSdp(answer);
    const theirs = description.media[open.at];
    if (theirs?.kind !== "audio" || theirs.port === 0) throw new SdpError("refuses audio");
    if (SECURE.test(theirs.profile) !== (open.line.crypto !== null)) {
      throw new SdpError("must have the profile of the offer (RTP/AVP or RTP/SAVP)");
    }
    checkPacketLength(theirs);
    const formats = formatsOf(theirs);
    const send = formats.codecs.find(({ codec }) => open.line.codecs.some((ours) => ours.codec === codec));
    if (send === undefined) throw new SdpError("has no codec of the offer");
    const named = new Set(formats.codecs.map(({ codec }) => codec));
    const agreed = this.#agreement(description, theirs, {
      send,
      // By our own numbers, which the other side sends with.
      receive: open.line.codecs.filter(({ codec }) => named.has(codec)),
      formats: { codecs: formats.codecs, digits: formats.digits.length === 0 ? [] : open.line.digits },
      sendDigits: formats.digits,
      remoteKey: open.line.crypto === null ? null : this.#answeredKey(theirs),
      isHolding: open.isHolding,
    });
    const line = { ...open.line, isMuxed: agreed.media.isMuxed };
    this.#lines = this.#lines.length === 0 ? [line] : this.#lines.with(open.at, line);
    return agreed;
  }

  /** The other side has refused our offer: all stays as it was. */
  dropOffer(): void {
    this.#open = null;
  }

  /** The first audio line that can be used. @throws SdpError with the fault of the last one that cannot */
  #chosen({ media }: SdpDescription): number {
    let fault = new SdpError("has no audio (m=audio)");
    for (const [index, line] of media.entries()) {
      if (line.kind !== "audio" || line.port === 0) continue;
      const isSecure = SECURE.test(line.profile);
      if (!isSecure && !PLAIN.test(line.profile)) {
        fault = new SdpError("has audio of a profile other than RTP/AVP and RTP/SAVP");
      } else if (isSecure && this.#local.encryption === "off") {
        fault = new SdpError("requires encrypted media, which need TLS for SIP");
      } else if (!isSecure && this.#local.encryption === "required") {
        fault = new SdpError("has audio without encryption, which this service requires (RTP/SAVP)");
      } else if (this.#codecOf(formatsOf(line).codecs) === undefined) {
        fault = new SdpError("has no codec that calls can have");
      } else return index;
    }
    throw fault;
  }

  /** The first one of the offer that we have. */
  #codecOf(codecs: readonly RtpFormat[]): RtpFormat | undefined {
    return codecs.find(({ codec }) => this.#local.codecs.includes(codec));
  }

  /** Null: plain RTP. @throws SdpError */
  #cryptoOf(media: SdpMedia): CryptoLine | null {
    if (!SECURE.test(media.profile)) return null;
    const [line] = cryptoLines(media);
    if (line === undefined) {
      throw new SdpError("must have a key of AES_CM_128_HMAC_SHA1_80 without MKI (a=crypto)");
    }
    return line;
  }

  #answeredKey(media: SdpMedia): SrtpKey {
    const line = cryptoLines(media).find(({ tag }) => tag === OUR_TAG);
    if (line === undefined) throw new SdpError("must have a key for the offered a=crypto line");
    return line.key;
  }

  #agreement(
    description: SdpDescription,
    theirs: SdpMedia,
    chosen: {
      readonly send: RtpFormat;
      readonly receive: readonly RtpFormat[];
      readonly formats: Formats;
      /** Where the other side numbers them in another way than we do. */
      readonly sendDigits?: Formats["digits"];
      readonly remoteKey: SrtpKey | null;
      readonly isHolding: boolean;
    },
  ): Agreement {
    const { signallingAddress, key } = this.#local;
    const named = theirs.address ?? description.address;
    if (named === null) throw new SdpError("must have an IP address for audio (c=)");
    const isSilenced = isUnspecified(named);
    const address = isSilenced ? named : this.#placeOf(named);
    const direction = directionOf(description, theirs);
    const isHeld = isSilenced || direction === "sendonly" || direction === "inactive";
    const clockHz = RTP_CLOCK_HZ[chosen.send.codec];
    const sources = [address, signallingAddress].filter((one) => one !== null && !isUnspecified(one));
    const media: RtpMedia = {
      remote: { address, port: theirs.port, rtcpPort: rtcpPortOf(theirs) },
      isConfirmed: address === signallingAddress,
      isMuxed: hasAttribute(theirs.attributes, "rtcp-mux"),
      sources: [...new Set(sources)].filter((one) => one !== null),
      send: chosen.send,
      receive: chosen.receive,
      sendDigits: digitsFor(chosen.sendDigits ?? chosen.formats.digits, clockHz),
      receiveDigits: chosen.formats.digits,
      isSending: !isHeld,
      isReceiving: !isSilenced && direction === "sendrecv" && !chosen.isHolding,
      srtp: chosen.remoteKey === null ? null : { local: key, remote: chosen.remoteKey },
    };
    return { media, isHeld };
  }

  /**
   * Where audio is sent until media come. A phone behind a NAT names an address of its own network, which means nothing
   * here; its media come from where its signalling comes from.
   */
  #placeOf(address: string): string {
    const { signallingAddress, mayUse } = this.#local;
    if (mayUse(address) && !isMulticast(address)) return address;
    if (signallingAddress !== null && isIP(signallingAddress) === isIP(address)) return signallingAddress;
    throw new SdpError("has an address that media may not be sent to");
  }

  /** A number means the same codec for a whole call (RFC 3264, section 8.3.2). */
  #numberOf(codec: RtpCodecName): number {
    const known = this.#codecNumbers.get(codec);
    if (known !== undefined) return known;
    const taken = new Set(this.#codecNumbers.values());
    let number = OUR_NUMBERS[codec];
    while (taken.has(number)) number += 1;
    return number;
  }

  #written(lines: readonly (AudioLine | RefusedLine)[]): string {
    const { originId, address } = this.#local;
    this.#version += 1;
    return writeSdp({ originId, version: this.#version, address, lines });
  }
}

function isMulticast(address: string): boolean {
  return /^(?:2(?:2[4-9]|3\d)\.|255\.255\.255\.255$|ff)/i.test(address);
}

function itemAt<Item>(items: readonly Item[], index: number): Item {
  const item = items[index];
  if (item === undefined) throw new RangeError("there is no such item");
  return item;
}

function refused({ kind, profile, formats }: SdpMedia): RefusedLine {
  return { kind: "refused", media: kind, profile, formats };
}

/** `a=rtcp` (RFC 3605), or the next port. An address in it is passed over: RTCP goes where RTP goes. */
function rtcpPortOf({ attributes, port }: SdpMedia): number {
  const [, digits] = /^(\d{1,5})(?: |$)/.exec(valueOf(attributes, "rtcp") ?? "") ?? [];
  const given = Number(digits);
  return given > 0 && given <= 65_535 ? given : Math.min(65_535, port + 1);
}

/** RFC 3264, section 6.1. Where we hold the call as well, we take nothing. */
function answeredDirection(offered: Direction, isHolding: boolean): Direction {
  const sends = offered === "sendrecv" || offered === "recvonly";
  const takes = (offered === "sendrecv" || offered === "sendonly") && !isHolding;
  if (sends) return takes ? "sendrecv" : "sendonly";
  return takes ? "recvonly" : "inactive";
}
