/** Refuses RTP and RTCP packets that were received before; the library decrypts them again. */

import { ReplayGuard } from "./replay-window.ts";
import type { SrtpInternals } from "./werift-internals.ts";

/** Sources of one client: its microphone, and a new number after each change of device. */
const MAX_SOURCES = 256;
/** Of SRTCP: the flag E and 31 bits of index, then the signature (RFC 3711, section 3.4). */
const SRTCP_INDEX_BYTES = 4;
const HMAC_SHA1_80_BYTES = 10;
/** A protection profile (RFC 7714, section 14.2). */
const AEAD_AES_128_GCM = 0x0007;

/** @throws from `decrypt` for a packet that was received before */
export function refuseRtpReplays(context: SrtpInternals): void {
  const guard = new ReplayGuard(MAX_SOURCES);
  const { decrypt } = context;
  context.decrypt = (packet) => {
    const sequence = packet.readUInt16BE(2);
    return guard.once(
      packet.readUInt32BE(8),
      (window) => window.extended(sequence),
      () => decrypt(packet),
    );
  };
}

/** @throws from `decrypt` for a packet that was received before */
export function refuseRtcpReplays(context: SrtpInternals): void {
  const guard = new ReplayGuard(MAX_SOURCES);
  // With AES-GCM the index comes last, otherwise the signature does (RFC 7714, section 9.2).
  const signatureBytes = context.config.profile === AEAD_AES_128_GCM ? 0 : HMAC_SHA1_80_BYTES;
  const { decrypt } = context;
  context.decrypt = (packet) => {
    const index = packet.readUInt32BE(packet.length - SRTCP_INDEX_BYTES - signatureBytes) & 0x7fff_ffff;
    return guard.once(
      packet.readUInt32BE(4),
      () => index,
      () => decrypt(packet),
    );
  };
}
