/** SCTP packets of a caller: captured ones with the tag and the numbers of this association, and changed. */

import { crc32c, type RTCPeerConnection } from "werift";
import { type Association, problemOfPacket } from "../../src/transports/rtc/edge/sctp-packets.ts";
import type { Draw } from "../../sim/draw.ts";
import { sctpOf } from "./client-inside.ts";
import { sctpFields } from "./fields.ts";
import { mutated, oneOf } from "./mutate.ts";

const HEADER_BYTES = 12;
const DATA = 0;
const SACK = 3;
const FORWARD_TSN = 192;
/** The fifth packet that the service refuses ends the connection, so most of those that it would refuse are left out. */
const REFUSED_SHARE = 0.02;
const MAX_TRIES = 50;

export class SctpInputs {
  readonly #client: RTCPeerConnection;
  readonly #captures: readonly Buffer[];
  #nextTsn: number;

  constructor(client: RTCPeerConnection, captures: readonly Buffer[]) {
    this.#client = client;
    this.#captures = captures.filter(({ length }) => length > HEADER_BYTES);
    this.#nextTsn = sctpOf(client).localTsn;
  }

  next(draw: Draw): Buffer {
    const mostTries = draw.chance(REFUSED_SHARE) ? 1 : MAX_TRIES;
    let packet = this.#draw(draw);
    for (let tries = 1; tries < mostTries && this.#isRefused(packet); tries += 1) packet = this.#draw(draw);
    if (packet[HEADER_BYTES] === DATA && packet.length >= HEADER_BYTES + 8) {
      const tsn = packet.readUInt32BE(HEADER_BYTES + 4);
      if (tsn === this.#nextTsn) this.#nextTsn = (tsn + 1) >>> 0;
    }
    return packet;
  }

  #draw(draw: Draw): Buffer {
    const packet = Buffer.from(oneOf(draw, this.#captures));
    this.#renumber(draw, packet);
    const changed = draw.chance(0.05) ? packet : mutated(draw, packet, sctpFields, this.#captures);
    return this.#addressed(draw, changed);
  }

  /** Numbers of the captured call mean nothing in this one. */
  #renumber(draw: Draw, packet: Buffer): void {
    const { lastReceivedTsn } = sctpOf(this.#client);
    for (let at = HEADER_BYTES; at + 8 <= packet.length;) {
      const type = packet[at];
      const ahead = draw.chance(0.6) ? 0 : draw.whole(-4, 20);
      if (type === DATA || type === FORWARD_TSN) packet.writeUInt32BE((this.#nextTsn + ahead) >>> 0, at + 4);
      if (type === SACK) packet.writeUInt32BE((lastReceivedTsn + draw.whole(-2, 0)) >>> 0, at + 4);
      at += Math.max(4, (packet.readUInt16BE(at + 2) + 3) & ~3);
    }
  }

  #addressed(draw: Draw, changed: Buffer): Buffer {
    if (changed.length < HEADER_BYTES) return changed;
    const { localPort, remotePort, remoteVerificationTag } = sctpOf(this.#client);
    changed.writeUInt16BE(localPort, 0);
    changed.writeUInt16BE(remotePort, 2);
    if (draw.chance(0.99)) changed.writeUInt32BE(remoteVerificationTag, 4);
    changed.writeUInt32LE(0, 8);
    if (draw.chance(0.99)) changed.writeUInt32LE(crc32c(changed), 8);
    return changed;
  }

  #isRefused(packet: Buffer): boolean {
    const { remoteVerificationTag, lastReceivedTsn } = sctpOf(this.#client);
    const association: Association = {
      localVerificationTag: remoteVerificationTag,
      isEstablished: true,
      lastReceivedTsn: (this.#nextTsn - 1) >>> 0,
      lastConfirmedTsn: lastReceivedTsn,
      lastSentTsn: lastReceivedTsn,
    };
    return problemOfPacket(packet, association) !== null;
  }
}
