/** SCTP packets (RFC 9260, section 3) as far as their lengths and numbers can be judged before they are processed. */

const COMMON_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 4;
const PARAMETER_HEADER_BYTES = 4;
/** A packet has at most about 1,200 bytes, and a chunk at least four; clients bundle two or three. */
const MAX_CHUNKS = 64;
const MAX_PARAMETERS = 64;
/** Gap blocks, and numbers of duplicates. */
const MAX_SACK_ENTRIES = 64;
/** Data may come this many chunks before the ones that are missing. 128 KiB of our receive window are 110 chunks. */
const MAX_AHEAD = 1_024;
/** Browsers number channels from 0; they offer at most 1,024. */
const MAX_STREAM_ID = 1_023;

const DATA = 0;
const INIT = 1;
const INIT_ACK = 2;
const SACK = 3;
const HEARTBEAT = 4;
const HEARTBEAT_ACK = 5;
const ABORT = 6;
const SHUTDOWN = 7;
const SHUTDOWN_ACK = 8;
const ERROR = 9;
const COOKIE_ECHO = 10;
const COOKIE_ACK = 11;
const SHUTDOWN_COMPLETE = 14;
const RECONFIG = 130;
const FORWARD_TSN = 192;

/** What is known of the other side. TSNs are numbers of chunks modulo 2^32. */
export interface Association {
  readonly localVerificationTag: number;
  readonly isEstablished: boolean;
  /** The last TSN before the first that is missing; undefined before an INIT. */
  readonly lastReceivedTsn: number | undefined;
  /** The last TSN of ours that the other side has confirmed. */
  readonly lastConfirmedTsn: number;
  /** The last TSN that we have sent. */
  readonly lastSentTsn: number;
}

/** @returns what is wrong with a packet; null: nothing */
export function problemOfPacket(packet: Buffer, association: Association): string | null {
  if (packet.length < COMMON_HEADER_BYTES + CHUNK_HEADER_BYTES) return "a packet without chunks";
  const isInit = packet[COMMON_HEADER_BYTES] === INIT;
  const tag = isInit ? 0 : association.localVerificationTag;
  if (packet.readUInt32BE(4) !== tag) return "a wrong verification tag";
  let at = COMMON_HEADER_BYTES;
  let chunks = 0;
  while (at + CHUNK_HEADER_BYTES <= packet.length) {
    const length = packet.readUInt16BE(at + 2);
    if (length < CHUNK_HEADER_BYTES || at + length > packet.length) return "a chunk of an impossible length";
    chunks += 1;
    if (chunks > MAX_CHUNKS) return "too many chunks in a packet";
    const type = packet[at] ?? DATA;
    if (chunks > 1 && (isInit || type === INIT)) return "an INIT that is not alone";
    const problem = CHECKS[type]?.(packet.subarray(at + CHUNK_HEADER_BYTES, at + length), association);
    if (problem === undefined) return "a chunk of an unknown type";
    if (problem !== null) return problem;
    at += padded(length);
  }
  return null;
}

type Check = (body: Buffer, association: Association) => string | null;

const CHECKS: Readonly<Record<number, Check>> = {
  [DATA]: problemOfData,
  [INIT]: problemOfInit,
  // We never begin an association.
  [INIT_ACK]: () => "an INIT ACK without an INIT",
  [SACK]: problemOfSack,
  [HEARTBEAT]: (body) => problemOfParameters(body),
  [HEARTBEAT_ACK]: (body) => problemOfParameters(body),
  [ABORT]: (body) => problemOfParameters(body),
  [SHUTDOWN]: (body) => (body.length === 4 ? null : "a SHUTDOWN of a wrong length"),
  [SHUTDOWN_ACK]: () => null,
  [ERROR]: (body) => problemOfParameters(body),
  [COOKIE_ECHO]: () => null,
  [COOKIE_ACK]: () => null,
  [SHUTDOWN_COMPLETE]: () => null,
  [RECONFIG]: problemOfReconfig,
  [FORWARD_TSN]: problemOfForwardTsn,
};

function problemOfData(body: Buffer, { lastReceivedTsn }: Association): string | null {
  if (body.length < 13) return "a DATA chunk without data";
  if (lastReceivedTsn === undefined) return "data before an INIT";
  if (body.readUInt16BE(4) > MAX_STREAM_ID) return "data of a stream that does not exist";
  return isAhead(body.readUInt32BE(0), lastReceivedTsn, MAX_AHEAD)
    ? null
    : "data too far from what was received";
}

function problemOfInit(body: Buffer, { isEstablished }: Association): string | null {
  if (isEstablished) return "an INIT in an established association";
  return body.length < 16 ? "an INIT that is too short" : problemOfParameters(body.subarray(16));
}

function problemOfSack(body: Buffer, { lastConfirmedTsn, lastSentTsn }: Association): string | null {
  if (body.length < 12) return "a SACK that is too short";
  const gaps = body.readUInt16BE(8);
  const duplicates = body.readUInt16BE(10);
  if (gaps > MAX_SACK_ENTRIES || duplicates > MAX_SACK_ENTRIES) return "a SACK with too many entries";
  if (body.length !== 12 + 4 * (gaps + duplicates)) return "a SACK of a wrong length";
  const confirmed = body.readUInt32BE(0);
  // An older one is overtaken; its gaps are not looked at.
  if (distance(lastConfirmedTsn, confirmed) >= 2 ** 31) return null;
  const outstanding = distance(confirmed, lastSentTsn);
  if (outstanding >= 2 ** 31) return "a SACK of data that were not sent";
  let previousEnd = 0;
  for (let index = 0; index < gaps; index += 1) {
    const start = body.readUInt16BE(12 + 4 * index);
    const end = body.readUInt16BE(14 + 4 * index);
    if (start <= previousEnd || end < start || end > outstanding) return "a SACK with impossible gaps";
    previousEnd = end;
  }
  return null;
}

function problemOfReconfig(body: Buffer): string | null {
  const problem = problemOfParameters(body, (type, length) => {
    // Resets of outgoing streams, answers, and new streams (RFC 6525, section 4).
    const least = { 13: 12, 16: 8, 17: 8 }[type];
    return least === undefined || length >= least;
  });
  return problem ?? (body.length % 2 === 0 ? null : "a RE-CONFIG of an odd length");
}

function problemOfForwardTsn(body: Buffer, { lastReceivedTsn }: Association): string | null {
  if (body.length < 4 || body.length % 4 !== 0) return "a FORWARD TSN of a wrong length";
  if (body.length > 4 + 4 * MAX_SACK_ENTRIES) return "a FORWARD TSN with too many streams";
  if (lastReceivedTsn === undefined) return "a FORWARD TSN before an INIT";
  for (let at = 4; at < body.length; at += 4) {
    if (body.readUInt16BE(at) > MAX_STREAM_ID) return "a FORWARD TSN of a stream that does not exist";
  }
  return isAhead(body.readUInt32BE(0), lastReceivedTsn, MAX_AHEAD) ? null : "a FORWARD TSN too far ahead";
}

function problemOfParameters(
  body: Buffer,
  isLongEnough: (type: number, length: number) => boolean = () => true,
): string | null {
  let at = 0;
  let parameters = 0;
  while (at + PARAMETER_HEADER_BYTES <= body.length) {
    const length = body.readUInt16BE(at + 2);
    if (length < PARAMETER_HEADER_BYTES || at + length > body.length) {
      return "a parameter of an impossible length";
    }
    if (!isLongEnough(body.readUInt16BE(at), length - PARAMETER_HEADER_BYTES)) {
      return "a parameter that is too short";
    }
    parameters += 1;
    if (parameters > MAX_PARAMETERS) return "too many parameters in a chunk";
    at += padded(length);
  }
  return null;
}

/** Not more than `most` after `last`, or at most 2^31 before it: then it is a repetition. */
function isAhead(tsn: number, last: number, most: number): boolean {
  const ahead = distance(last, tsn);
  return ahead <= most || ahead >= 2 ** 31;
}

/** From one TSN up to another, modulo 2^32. */
function distance(from: number, to: number): number {
  return (to - from) >>> 0;
}

function padded(length: number): number {
  return (length + 3) & ~3;
}
