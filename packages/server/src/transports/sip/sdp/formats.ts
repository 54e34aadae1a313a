/** The formats of audio that calls can have, as a media line names them (RFC 3551, 7587 and 4733). */

import type { DigitFormat, RtpCodecName, RtpFormat } from "../../rtc/rtp-media.ts";
import { SdpError, type SdpMedia, valueOf, valuesOf } from "./description.ts";

/** `a=rtpmap` of each codec. G.722 has a clock of 8,000 Hz although it has 16,000 samples a second. */
export const RTPMAPS: Readonly<Record<RtpCodecName, string>> = {
  PCMU: "PCMU/8000",
  PCMA: "PCMA/8000",
  G722: "G722/8000",
  opus: "opus/48000/2",
};

/** Numbers that need no `a=rtpmap`. */
const STATIC: ReadonlyMap<string, string> = new Map([
  ["0", RTPMAPS.PCMU],
  ["8", RTPMAPS.PCMA],
  ["9", RTPMAPS.G722],
]);

/** The numbers of our offers. */
export const OUR_NUMBERS: Readonly<Record<RtpCodecName, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 96 };
export const OUR_EVENTS: readonly DigitFormat[] = [
  { payloadType: 101, clockHz: 8_000 },
  { payloadType: 102, clockHz: 48_000 },
];
/** Keys 0 to 15: 0-9 * # A-D. */
export const OUR_EVENT_RANGE = "0-15";
export const OPUS_PARAMETERS = "useinbandfec=1; stereo=0; sprop-stereo=0; maxplaybackrate=16000";
export const PTIME_MS = 20;

export interface Formats {
  /** In the order of the media line. */
  readonly codecs: readonly RtpFormat[];
  readonly digits: readonly DigitFormat[];
}

const MAX_PAYLOAD_TYPE = 127;

/** @throws SdpError where a map of a format cannot be read */
export function formatsOf({ formats, attributes }: SdpMedia): Formats {
  const maps = new Map<string, string>(STATIC);
  for (const value of valuesOf(attributes, "rtpmap")) {
    const [, number, map] = /^(\d{1,3}) +(\S{1,64})$/.exec(value.trim()) ?? [];
    if (number === undefined || map === undefined) {
      throw new SdpError("has a map of a format (a=rtpmap) that cannot be read");
    }
    maps.set(number, map);
  }
  const codecs: RtpFormat[] = [];
  const digits: DigitFormat[] = [];
  for (const number of formats) {
    const payloadType = Number(number);
    const map = maps.get(number);
    if (map === undefined || !(payloadType <= MAX_PAYLOAD_TYPE)) continue;
    const codec = codecOf(map);
    if (codec !== null) codecs.push({ payloadType, codec });
    const [, clock] = /^telephone-event\/(8000|48000)$/i.exec(map) ?? [];
    if (clock !== undefined) digits.push({ payloadType, clockHz: Number(clock) });
  }
  return { codecs, digits };
}

/** The channels of G.711 and G.722 may be named as well. */
function codecOf(map: string): RtpCodecName | null {
  const plain = map.toLowerCase().replace(/^(pcm[ua]|g722)\/8000\/1$/, "$1/8000");
  const names: readonly RtpCodecName[] = ["PCMU", "PCMA", "G722", "opus"];
  return names.find((name) => RTPMAPS[name].toLowerCase() === plain) ?? null;
}

/** With the clock of the codec where there is one: the timestamps of a stream have one clock (RFC 4733, section 2.1). */
export function digitsFor(digits: readonly DigitFormat[], clockHz: number): DigitFormat | null {
  return digits.find((format) => format.clockHz === clockHz) ?? digits[0] ?? null;
}

/** @throws SdpError where our packets are too long for the other side */
export function checkPacketLength({ attributes }: SdpMedia): void {
  const most = valueOf(attributes, "maxptime");
  if (most !== null && Number(most) < PTIME_MS) {
    throw new SdpError(`must allow packets of ${String(PTIME_MS)} ms (a=maxptime)`);
  }
}
