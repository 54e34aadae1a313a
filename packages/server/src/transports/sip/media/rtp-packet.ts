/** RTP packets (RFC 3550, section 5.1). */

export interface RtpHeader {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  /** Where the payload begins: behind the sources and the extension. */
  readonly payloadStart: number;
  /** The last byte of the payload counts the bytes of padding; encrypted in SRTP. */
  readonly hasPadding: boolean;
}

export const RTP_HEADER_BYTES = 12;
const VERSION_2 = 2;

/** Null for what is no RTP packet. The payload may be empty. */
export function rtpHeaderOf(packet: Buffer): RtpHeader | null {
  if (packet.length < RTP_HEADER_BYTES) return null;
  const first = packet.readUInt8(0);
  if (first >> 6 !== VERSION_2) return null;
  let payloadStart = RTP_HEADER_BYTES + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0) {
    if (payloadStart + 4 > packet.length) return null;
    payloadStart += 4 + 4 * packet.readUInt16BE(payloadStart + 2);
  }
  if (payloadStart > packet.length) return null;
  const second = packet.readUInt8(1);
  return {
    marker: (second & 0x80) !== 0,
    payloadType: second & 0x7f,
    sequence: packet.readUInt16BE(2),
    timestamp: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    payloadStart,
    hasPadding: (first & 0x20) !== 0,
  };
}

/** The payload without padding, as a view; null where the padding is longer than it. */
export function payloadOf(packet: Buffer, { payloadStart, hasPadding }: RtpHeader): Buffer | null {
  if (!hasPadding) return packet.subarray(payloadStart);
  const padding = packet.at(-1) ?? 0;
  const end = packet.length - padding;
  return padding === 0 || end < payloadStart ? null : packet.subarray(payloadStart, end);
}

export interface OutgoingRtp {
  readonly marker: boolean;
  readonly payloadType: number;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Uint8Array;
}

/** @param spareBytes room at the end, for a signature */
export function rtpPacketOf(rtp: OutgoingRtp, spareBytes = 0): Buffer {
  const packet = Buffer.allocUnsafe(RTP_HEADER_BYTES + rtp.payload.length + spareBytes);
  packet.writeUInt8(VERSION_2 << 6, 0);
  packet.writeUInt8((rtp.marker ? 0x80 : 0) | rtp.payloadType, 1);
  packet.writeUInt16BE(rtp.sequence, 2);
  packet.writeUInt32BE(rtp.timestamp, 4);
  packet.writeUInt32BE(rtp.ssrc, 8);
  packet.set(rtp.payload, RTP_HEADER_BYTES);
  return packet;
}

/** Whether a packet on a port that RTP and RTCP share is RTCP (RFC 5761, section 4). */
export function isRtcp(packet: Buffer): boolean {
  const type = packet[1] ?? 0;
  return type >= 192 && type <= 223;
}
