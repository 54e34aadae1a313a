/** The media of calls over SIP under hostile descriptions and packets, without sockets. */

import { fuzzRtp } from "./fuzz-rtp.ts";
import { fuzzSdp } from "./fuzz-sdp.ts";

/** Faults shown of each part. */
const MOST_FAULTS = 5;

export interface SipMediaFuzzOptions {
  /** Of descriptions, of plain packets and of encrypted ones. */
  readonly inputs: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** @returns what they have not withstood */
export async function runSipMediaFuzz({ inputs, seed, log }: SipMediaFuzzOptions): Promise<string[]> {
  const sdp = fuzzSdp(inputs, { seed, mostFaults: MOST_FAULTS });
  log(
    `  SDP: ${String(inputs)} inputs, ${String(sdp.answered)} of them used, ${String(sdp.faults.length)} failed`,
  );
  const faults = [...sdp.faults];
  for (const isSecure of [false, true]) {
    const rtp = await fuzzRtp(inputs, { seed, isSecure, mostFaults: MOST_FAULTS });
    const name = isSecure ? "SRTP" : "RTP";
    log(
      `  ${name}: ${String(inputs)} inputs, ${String(rtp.heard)} frames heard, ${String(rtp.faults.length)} failed`,
    );
    faults.push(...rtp.faults);
  }
  for (const fault of faults) log(`  FAILED: ${fault}`);
  return faults;
}
