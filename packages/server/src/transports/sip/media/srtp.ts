/** SRTP and SRTCP with AES_CM_128_HMAC_SHA1_80 (RFC 3711), without key derivation rate and without MKI. */

import { createCipheriv, createHmac, timingSafeEqual } from "node:crypto";
import { ReplayWindow } from "../../rtc/edge/replay-window.ts";
import type { SrtpKey } from "../../rtc/rtp-media.ts";
import type { RtpHeader } from "./rtp-packet.ts";

export const TAG_BYTES = 10;
const RTCP_HEADER_BYTES = 8;
/** The flag E and 31 bits of index. */
const RTCP_INDEX_BYTES = 4;
const IS_ENCRYPTED = 0x8000_0000;
const AUTH_KEY_BYTES = 20;
const KEY_BYTES = 16;
const SALT_BYTES = 14;
/** Byte of the salt that the label of a derived key changes: seven from its end (RFC 3711, section 4.3.1). */
const LABEL_AT = 7;
/** Sources of one side: a phone changes its own with a transfer or a codec. More are refused. */
const MAX_SOURCES = 32;
/** The window counts from one turn of the sequence numbers, so that packets before the first one have a number. */
const FIRST_TURN = 0x1_0000;
const TURN = 0x1_0000;

interface PacketKeys {
  readonly cipher: Buffer;
  readonly auth: Buffer;
  readonly salt: Buffer;
}

/** A key of one use (section 4.3.1). */
export function derivedKey({ key, salt }: SrtpKey, label: number, bytes: number): Buffer {
  const block = Buffer.alloc(16);
  block.set(salt.subarray(0, SALT_BYTES));
  block.writeUInt8(block.readUInt8(LABEL_AT) ^ label, LABEL_AT);
  return createCipheriv("aes-128-ctr", key, block).update(Buffer.alloc(bytes));
}

function keysOf(master: SrtpKey, firstLabel: number): PacketKeys {
  return {
    cipher: derivedKey(master, firstLabel, KEY_BYTES),
    auth: derivedKey(master, firstLabel + 1, AUTH_KEY_BYTES),
    salt: derivedKey(master, firstLabel + 2, SALT_BYTES),
  };
}

/** @param index 48 bits for RTP, 31 bits for RTCP */
function crypted({ cipher, salt }: PacketKeys, ssrc: number, index: number, data: Buffer): Buffer {
  const block = Buffer.alloc(16);
  block.set(salt);
  block.writeUInt32BE((block.readUInt32BE(4) ^ ssrc) >>> 0, 4);
  const [high, low] = [Math.floor(index / TURN), index % TURN];
  block.writeUInt32BE((block.readUInt32BE(8) ^ high) >>> 0, 8);
  block.writeUInt16BE(block.readUInt16BE(12) ^ low, 12);
  return createCipheriv("aes-128-ctr", cipher, block).update(data);
}

function tagOf({ auth }: PacketKeys, signed: Buffer, turns: number | null): Buffer {
  const hmac = createHmac("sha1", auth).update(signed);
  if (turns !== null) {
    const counter = Buffer.allocUnsafe(4);
    counter.writeUInt32BE(turns);
    hmac.update(counter);
  }
  return hmac.digest().subarray(0, TAG_BYTES);
}

/** Encrypts what one side sends. */
export class SrtpSender {
  readonly #rtp: PacketKeys;
  readonly #rtcp: PacketKeys;
  #rtcpIndex = 0;

  constructor(master: SrtpKey) {
    this.#rtp = keysOf(master, 0);
    this.#rtcp = keysOf(master, 3);
  }

  /**
   * @param packet with `TAG_BYTES` of room at its end
   * @param index the sequence number with its turns: 48 bits
   */
  rtp(packet: Buffer, header: Pick<RtpHeader, "payloadStart" | "ssrc">, index: number): Buffer {
    const end = packet.length - TAG_BYTES;
    const payload = packet.subarray(header.payloadStart, end);
    payload.set(crypted(this.#rtp, header.ssrc, index, payload));
    packet.set(tagOf(this.#rtp, packet.subarray(0, end), Math.floor(index / TURN)), end);
    return packet;
  }

  rtcp(packet: Buffer): Buffer {
    this.#rtcpIndex += 1;
    const ssrc = packet.readUInt32BE(4);
    const body = crypted(this.#rtcp, ssrc, this.#rtcpIndex, packet.subarray(RTCP_HEADER_BYTES));
    const index = Buffer.allocUnsafe(RTCP_INDEX_BYTES);
    index.writeUInt32BE((IS_ENCRYPTED | this.#rtcpIndex) >>> 0);
    const signed = Buffer.concat([packet.subarray(0, RTCP_HEADER_BYTES), body, index]);
    return Buffer.concat([signed, tagOf(this.#rtcp, signed, null)]);
  }
}

/** Decrypts what the other side sends: each packet once, and only with a valid signature. */
export class SrtpReceiver {
  readonly #rtp: PacketKeys;
  readonly #rtcp: PacketKeys;
  readonly #rtpWindows = new Map<number, ReplayWindow>();
  readonly #rtcpWindows = new Map<number, ReplayWindow>();

  constructor(master: SrtpKey) {
    this.#rtp = keysOf(master, 0);
    this.#rtcp = keysOf(master, 3);
  }

  /** Decrypts in place; the packet without its signature, or null. */
  rtp(packet: Buffer, { payloadStart, ssrc, sequence }: RtpHeader): Buffer | null {
    const end = packet.length - TAG_BYTES;
    const window = windowOf(this.#rtpWindows, ssrc);
    if (end < payloadStart || window === null) return null;
    const number = window.extended(sequence);
    const index = number - FIRST_TURN;
    if (index < 0 || !window.isNew(number)) return null;
    const signed = packet.subarray(0, end);
    const tag = tagOf(this.#rtp, signed, Math.floor(index / TURN));
    if (!timingSafeEqual(tag, packet.subarray(end))) return null;
    window.accept(number);
    this.#rtpWindows.set(ssrc, window);
    const payload = packet.subarray(payloadStart, end);
    payload.set(crypted(this.#rtp, ssrc, index, payload));
    return signed;
  }

  /** The packet without index and signature, or null. */
  rtcp(packet: Buffer): Buffer | null {
    const end = packet.length - TAG_BYTES;
    const bodyEnd = end - RTCP_INDEX_BYTES;
    if (bodyEnd < RTCP_HEADER_BYTES) return null;
    const ssrc = packet.readUInt32BE(4);
    const window = windowOf(this.#rtcpWindows, ssrc);
    const word = packet.readUInt32BE(bodyEnd);
    const index = word & 0x7fff_ffff;
    if (window?.isNew(index) !== true || word < IS_ENCRYPTED) return null;
    const tag = tagOf(this.#rtcp, packet.subarray(0, end), null);
    if (!timingSafeEqual(tag, packet.subarray(end))) return null;
    window.accept(index);
    this.#rtcpWindows.set(ssrc, window);
    const body = crypted(this.#rtcp, ssrc, index, packet.subarray(RTCP_HEADER_BYTES, bodyEnd));
    return Buffer.concat([packet.subarray(0, RTCP_HEADER_BYTES), body]);
  }
}

/** A window is kept only for sources whose signature was valid. Null: there are too many of them. */
function windowOf(windows: ReadonlyMap<number, ReplayWindow>, source: number): ReplayWindow | null {
  const known = windows.get(source);
  if (known !== undefined) return known;
  return windows.size >= MAX_SOURCES ? null : new ReplayWindow();
}
