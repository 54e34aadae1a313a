/** RTCP reports (RFC 3550, section 6): what is sent about both directions, and what is read of the other side's. */

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const SOURCE_DESCRIPTION = 202;
const GOODBYE = 203;
const CNAME = 1;
const HEADER_BYTES = 4;
const BLOCK_BYTES = 24;
const SENDER_INFO_BYTES = 20;
/** Packets of one datagram that are read; senders put two or three together. */
const MAX_PACKETS = 16;
/** Seconds from 1900 to 1970. */
const NTP_OFFSET_S = 2_208_988_800;

/** About what one side receives from a source. */
export interface ReportBlock {
  readonly ssrc: number;
  /** Of 256. */
  readonly fractionLost: number;
  /** 24 bits with a sign. */
  readonly packetsLost: number;
  readonly highestSequence: number;
  /** In ticks of the RTP clock. */
  readonly jitter: number;
  /** The middle 32 bits of the time of the last sender report; 0: none came. */
  readonly lastReport: number;
  /** Since that report came, in 1/65536 s. */
  readonly sinceLastReport: number;
}

export interface SenderInfo {
  /** Wall clock, ms since 1970. */
  readonly wallMs: number;
  readonly timestamp: number;
  readonly packets: number;
  readonly bytes: number;
}

export interface OutgoingReport {
  readonly ssrc: number;
  readonly cname: string;
  /** Null: nothing was sent since the last report. */
  readonly sender: SenderInfo | null;
  readonly block: ReportBlock | null;
  /** The stream ends with this report. */
  readonly isLast: boolean;
}

/** The middle 32 bits of an NTP time. */
export function middleOfNtp(wallMs: number): number {
  return Math.floor(((wallMs / 1_000 + NTP_OFFSET_S) * 65_536) % 2 ** 32);
}

export function rtcpPacketOf({ ssrc, cname, sender, block, isLast }: OutgoingReport): Buffer {
  const parts = [reportOf(ssrc, sender, block), descriptionOf(ssrc, cname)];
  if (isLast) {
    const bye = header(GOODBYE, 1, HEADER_BYTES + 4);
    bye.writeUInt32BE(ssrc, HEADER_BYTES);
    parts.push(bye);
  }
  return Buffer.concat(parts);
}

/** A packet with room for its body; the length is counted in words, less one. */
function header(type: number, count: number, bytes: number): Buffer {
  const packet = Buffer.alloc(bytes);
  packet.writeUInt8(0x80 | count, 0);
  packet.writeUInt8(type, 1);
  packet.writeUInt16BE(bytes / 4 - 1, 2);
  return packet;
}

function reportOf(ssrc: number, sender: SenderInfo | null, block: ReportBlock | null): Buffer {
  const infoBytes = sender === null ? 0 : SENDER_INFO_BYTES;
  const blockAt = HEADER_BYTES + 4 + infoBytes;
  const bytes = blockAt + (block === null ? 0 : BLOCK_BYTES);
  const packet = header(sender === null ? RECEIVER_REPORT : SENDER_REPORT, block === null ? 0 : 1, bytes);
  packet.writeUInt32BE(ssrc, 4);
  if (sender !== null) {
    const seconds = sender.wallMs / 1_000 + NTP_OFFSET_S;
    packet.writeUInt32BE(Math.floor(seconds) >>> 0, 8);
    packet.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12);
    packet.writeUInt32BE(sender.timestamp, 16);
    packet.writeUInt32BE(sender.packets >>> 0, 20);
    packet.writeUInt32BE(sender.bytes >>> 0, 24);
  }
  if (block !== null) {
    packet.writeUInt32BE(block.ssrc, blockAt);
    packet.writeUInt8(block.fractionLost, blockAt + 4);
    const lost = Math.max(-0x80_0000, Math.min(0x7f_ffff, block.packetsLost));
    packet.writeIntBE(lost, blockAt + 5, 3);
    packet.writeUInt32BE(block.highestSequence >>> 0, blockAt + 8);
    packet.writeUInt32BE(block.jitter >>> 0, blockAt + 12);
    packet.writeUInt32BE(block.lastReport, blockAt + 16);
    packet.writeUInt32BE(block.sinceLastReport >>> 0, blockAt + 20);
  }
  return packet;
}

function descriptionOf(ssrc: number, cname: string): Buffer {
  const name = Buffer.from(cname, "ascii");
  // The list of items ends with a zero, and the packet with a whole word.
  const bytes = Math.ceil((HEADER_BYTES + 4 + 2 + name.length + 1) / 4) * 4;
  const packet = header(SOURCE_DESCRIPTION, 1, bytes);
  packet.writeUInt32BE(ssrc, 4);
  packet.writeUInt8(CNAME, 8);
  packet.writeUInt8(name.length, 9);
  packet.set(name, 10);
  return packet;
}

export interface ReceivedReport {
  readonly ssrc: number;
  /** The middle 32 bits of the sender's time; null: it sends nothing. */
  readonly sentAt: number | null;
  readonly blocks: readonly ReportBlock[];
}

/**
 * The reports of a datagram; null where it is no RTCP. Source descriptions, goodbyes and what is not known are passed
 * over: the end of a call is signalled, and a goodbye without encryption may come from anyone.
 */
export function reportsOf(datagram: Buffer): readonly ReceivedReport[] | null {
  const reports: ReceivedReport[] = [];
  let at = 0;
  for (let n = 0; at < datagram.length; n += 1) {
    if (n >= MAX_PACKETS || at + HEADER_BYTES + 4 > datagram.length) return null;
    const first = datagram.readUInt8(at);
    const type = datagram.readUInt8(at + 1);
    const end = at + 4 * (datagram.readUInt16BE(at + 2) + 1);
    if (first >> 6 !== 2 || end > datagram.length) return null;
    // A compound packet begins with a report (section 6.1).
    if (n === 0 && type !== SENDER_REPORT && type !== RECEIVER_REPORT) return null;
    if (type === SENDER_REPORT || type === RECEIVER_REPORT) {
      const report = reportIn(datagram.subarray(at, end), type, first & 0x1f);
      if (report === null) return null;
      reports.push(report);
    }
    at = end;
  }
  return reports.length === 0 ? null : reports;
}

function reportIn(packet: Buffer, type: number, count: number): ReceivedReport | null {
  const blocksAt = HEADER_BYTES + 4 + (type === SENDER_REPORT ? SENDER_INFO_BYTES : 0);
  if (blocksAt + count * BLOCK_BYTES > packet.length) return null;
  const blocks = Array.from({ length: count }, (_, index) => blockAt(packet, blocksAt + index * BLOCK_BYTES));
  return {
    ssrc: packet.readUInt32BE(4),
    sentAt: type === SENDER_REPORT ? packet.readUInt32BE(10) : null,
    blocks,
  };
}

function blockAt(packet: Buffer, at: number): ReportBlock {
  return {
    ssrc: packet.readUInt32BE(at),
    fractionLost: packet.readUInt8(at + 4),
    packetsLost: packet.readIntBE(at + 5, 3),
    highestSequence: packet.readUInt32BE(at + 8),
    jitter: packet.readUInt32BE(at + 12),
    lastReport: packet.readUInt32BE(at + 16),
    sinceLastReport: packet.readUInt32BE(at + 20),
  };
}
