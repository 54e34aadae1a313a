/** Session descriptions to offers and answers. Faults are: another error than an SdpError, and media that may not be. */

import type { RtpMedia } from "../../src/transports/rtc/rtp-media.ts";
import { isUnspecified, SdpError } from "../../src/transports/sip/sdp/description.ts";
import { OfferAnswer } from "../../src/transports/sip/sdp/offer-answer.ts";
import { Draw } from "../../sim/draw.ts";
import { drawSdp } from "./draw-sdp.ts";

/** Descriptions of one call. */
const CALL_LENGTH = 20;
/** Longer than any answer to the media lines that may be. */
const LONGEST_ANSWER = 32_768;

export type SdpSide = Pick<OfferAnswer, "answer" | "offer" | "accept">;

export interface SdpFuzzResult {
  readonly faults: readonly string[];
  readonly answered: number;
}

/** @param open in tests of the fuzzer: a side with a fault */
export function fuzzSdp(
  inputs: number,
  options: { readonly seed: number; readonly mostFaults: number; readonly open?: () => SdpSide },
): SdpFuzzResult {
  const { seed, mostFaults, open = newCall } = options;
  const draw = new Draw(seed);
  const faults: string[] = [];
  let answered = 0;
  let call = open();
  for (let n = 0; n < inputs && faults.length < mostFaults; n += 1) {
    if (n % CALL_LENGTH === 0) call = open();
    const sdp = drawSdp(draw);
    const isAnswer = draw.chance(0.3);
    try {
      if (isAnswer) call.offer(draw.chance(0.2));
      const agreed = isAnswer ? call.accept(sdp) : call.answer(sdp, draw.chance(0.2));
      answered += 1;
      const problem =
        problemOf(agreed.media) ?? ("sdp" in agreed ? problemOfAnswer(String(agreed.sdp)) : null);
      if (problem !== null) faults.push(`${problem} at ${JSON.stringify(sdp)}`);
    } catch (error) {
      if (!(error instanceof SdpError)) faults.push(`${String(error)} at ${JSON.stringify(sdp)}`);
    }
  }
  return { faults, answered };
}

export function newCall(): OfferAnswer {
  return new OfferAnswer({
    address: "203.0.113.7",
    port: 40_000,
    rtcpPort: 40_001,
    originId: "1",
    key: { key: new Uint8Array(16), salt: new Uint8Array(14) },
    encryption: "allowed",
    codecs: ["G722", "opus", "PCMU", "PCMA"],
    signallingAddress: "192.0.2.1",
    mayUse: (address) => !address.startsWith("224."),
  });
}

function problemOf({ remote, sources, send, receive, srtp, isSending }: RtpMedia): string | null {
  if (remote.port < 1 || remote.port > 65_535) return "a port that is none";
  if (remote.rtcpPort < 1 || remote.rtcpPort > 65_535) return "an RTCP port that is none";
  if (sources.some((address) => isUnspecified(address) || address.startsWith("224.")))
    return "a wrong source";
  if (isSending && isUnspecified(remote.address)) return "media to no address";
  if ([send, ...receive].some(({ payloadType }) => !(payloadType >= 0 && payloadType <= 127)))
    return "a wrong number";
  if (srtp !== null && (srtp.remote.key.length !== 16 || srtp.remote.salt.length !== 14))
    return "a key of a wrong length";
  return receive.length === 0 ? "nothing to receive" : null;
}

function problemOfAnswer(sdp: string): string | null {
  if (sdp.length > LONGEST_ANSWER) return "an answer that is too long";
  return /^(?:[a-z]=[^\r\n]*\r\n)+$/.test(sdp) ? null : "an answer that is no description";
}
