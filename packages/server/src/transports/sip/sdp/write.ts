/** Writes our session descriptions. */

import { isIPv6 } from "node:net";
import type { DigitFormat, RtpFormat, SrtpKey } from "../../rtc/rtp-media.ts";
import { cryptoValue } from "./crypto.ts";
import type { Direction } from "./description.ts";
import { OPUS_PARAMETERS, OUR_EVENT_RANGE, PTIME_MS, RTPMAPS } from "./formats.ts";

/** Of our audio, as one media line. */
export interface AudioLine {
  readonly kind: "audio";
  readonly port: number;
  readonly rtcpPort: number;
  readonly profile: string;
  readonly codecs: readonly RtpFormat[];
  readonly digits: readonly DigitFormat[];
  readonly direction: Direction;
  readonly isMuxed: boolean;
  /** Null: plain RTP. */
  readonly crypto: { readonly tag: string; readonly key: SrtpKey } | null;
}

/** A media line of the other side that we do not take: the same with port 0. */
export interface RefusedLine {
  readonly kind: "refused";
  readonly media: string;
  readonly profile: string;
  readonly formats: readonly string[];
}

export interface DescriptionOptions {
  /** The same for all descriptions of a call; `version` is another one for each. */
  readonly originId: string;
  readonly version: number;
  /** Where the other side sends to. */
  readonly address: string;
  readonly lines: readonly (AudioLine | RefusedLine)[];
}

export function writeSdp({ originId, version, address, lines }: DescriptionOptions): string {
  const place = `IN ${isIPv6(address) ? "IP6" : "IP4"} ${address}`;
  const all = [
    "v=0",
    `o=- ${originId} ${String(version)} ${place}`,
    "s=-",
    `c=${place}`,
    "t=0 0",
    ...lines.flatMap((line) => (line.kind === "audio" ? audioLines(line) : refusedLines(line))),
  ];
  return all.map((line) => `${line}\r\n`).join("");
}

function refusedLines({ media, profile, formats }: RefusedLine): string[] {
  return [`m=${media} 0 ${profile} ${formats.join(" ")}`];
}

function audioLines(line: AudioLine): string[] {
  const { port, rtcpPort, profile, codecs, digits, direction, isMuxed, crypto } = line;
  const numbers = [...codecs, ...digits].map(({ payloadType }) => String(payloadType));
  return [
    `m=audio ${String(port)} ${profile} ${numbers.join(" ")}`,
    ...codecs.flatMap(({ payloadType, codec }) => [
      `a=rtpmap:${String(payloadType)} ${RTPMAPS[codec]}`,
      ...(codec === "opus" ? [`a=fmtp:${String(payloadType)} ${OPUS_PARAMETERS}`] : []),
    ]),
    ...digits.flatMap(({ payloadType, clockHz }) => [
      `a=rtpmap:${String(payloadType)} telephone-event/${String(clockHz)}`,
      `a=fmtp:${String(payloadType)} ${OUR_EVENT_RANGE}`,
    ]),
    ...(crypto === null ? [] : [`a=crypto:${cryptoValue(crypto)}`]),
    ...(isMuxed ? ["a=rtcp-mux"] : []),
    ...(rtcpPort === port + 1 ? [] : [`a=rtcp:${String(rtcpPort)}`]),
    `a=ptime:${String(PTIME_MS)}`,
    `a=${direction}`,
  ];
}
