/** DTLS 1.2 records (RFC 6347, section 4.1) as far as they can be judged without keys. */

export const RECORD_HEADER_BYTES = 13;
const HANDSHAKE_HEADER_BYTES = 12;
const CHANGE_CIPHER_SPEC = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const DTLS_MAJOR_VERSION = 0xfe;
/** 2^14 of plaintext, and what a cipher may add (RFC 5246, section 6.2.3). */
const MAX_FRAGMENT_BYTES = 16_384 + 2_048;
/** Largest handshake message that is accepted. A client's certificate has less than 2 KiB. */
const MAX_HANDSHAKE_BYTES = 16_384;

export interface RecordRules {
  /** The handshake is over. */
  isConnected: boolean;
  /** Bytes of unencrypted handshake messages that may still come; counted down. */
  handshakeBytesLeft: number;
  /** Gets each encrypted alert instead of the library. */
  readonly alert: (record: Buffer) => void;
}

/**
 * Keeps the records of a datagram that a well-behaved client may send now.
 *
 * - Before the handshake is over: handshake messages, changes of the cipher, and everything encrypted.
 * - After it: encrypted records only. A client that has lost our last messages sends its own again; of these the
 *   encrypted one is enough for an answer.
 * - Never: content types other than 20 to 23, alerts, records that exceed the datagram, and handshake messages whose
 *   lengths contradict each other.
 *
 * @returns the datagram itself where all of it is kept; null where nothing is
 */
export function acceptableRecords(datagram: Buffer, rules: RecordRules): Buffer | null {
  const kept: Buffer[] = [];
  let at = 0;
  let isWhole = true;
  while (at + RECORD_HEADER_BYTES <= datagram.length) {
    const length = datagram.readUInt16BE(at + 11);
    const end = at + RECORD_HEADER_BYTES + length;
    if (end > datagram.length) break;
    const record = datagram.subarray(at, end);
    if (isAcceptable(record, rules)) kept.push(record);
    else isWhole = false;
    at = end;
  }
  if (isWhole && at === datagram.length && kept.length > 0) return datagram;
  return kept.length === 0 ? null : Buffer.concat(kept);
}

function isAcceptable(record: Buffer, rules: RecordRules): boolean {
  if (record[1] !== DTLS_MAJOR_VERSION || record.length > RECORD_HEADER_BYTES + MAX_FRAGMENT_BYTES)
    return false;
  const type = record[0];
  const epoch = record.readUInt16BE(3);
  // We refuse renegotiation, so there is never another epoch than that of the first handshake.
  if (epoch === 1) {
    if (type === ALERT) rules.alert(record);
    return type === HANDSHAKE || type === APPLICATION_DATA;
  }
  if (epoch !== 0 || rules.isConnected) return false;
  if (type === CHANGE_CIPHER_SPEC) return record.length === RECORD_HEADER_BYTES + 1;
  return type === HANDSHAKE && areAcceptableMessages(record.subarray(RECORD_HEADER_BYTES), rules);
}

function areAcceptableMessages(fragment: Buffer, rules: RecordRules): boolean {
  if (fragment.length > rules.handshakeBytesLeft) return false;
  let at = 0;
  while (at < fragment.length) {
    if (at + HANDSHAKE_HEADER_BYTES > fragment.length) return false;
    const length = fragment.readUIntBE(at + 1, 3);
    const offset = fragment.readUIntBE(at + 6, 3);
    const fragmentLength = fragment.readUIntBE(at + 9, 3);
    if (length > MAX_HANDSHAKE_BYTES || offset + fragmentLength > length) return false;
    // A fragment without bytes adds nothing to a message that has some.
    if (fragmentLength === 0 && length > 0) return false;
    at += HANDSHAKE_HEADER_BYTES + fragmentLength;
  }
  if (at !== fragment.length || at === 0) return false;
  rules.handshakeBytesLeft -= fragment.length;
  return true;
}
