/**
 * Decides which datagrams of a connection's UDP socket reach the WebRTC library. Anybody can send to that socket, so
 * the library gets only what is signed with the connection's ICE password, or comes from where such a request came
 * from.
 */

import { acceptableRecords, type RecordRules } from "./dtls-records.ts";
import { authenticatedRequest, type IceCredentials } from "./stun.ts";

/** Address and port. */
export type Source = readonly [string, number];

/** What the connection is doing now. */
export interface GateState {
  /** Those of the current offer and answer first, then those of the ones before. */
  readonly credentials: readonly IceCredentials[];
  /** The DTLS handshake is over. */
  readonly isEncrypted: boolean;
}

/** Addresses that signed requests came from last. A client with IPv4, IPv6 and a VPN has about six. */
const MAX_SOURCES = 32;
/** Handshake messages of all attempts together; a whole handshake of a client has 2 KiB. */
const MAX_HANDSHAKE_BYTES = 64 * 1_024;
const MIN_RTP_BYTES = 8;
/** Above the MTU of Ethernet; an Opus packet has at most 1,275 bytes. */
const MAX_RTP_BYTES = 2_048;

export class DatagramGate {
  readonly #state: GateState;
  readonly #rules: RecordRules;
  readonly #sources = new Set<string>();

  /**
   * @param state is read for each datagram
   * @param alert gets encrypted DTLS alerts, which the library acts on without decrypting them
   */
  constructor(state: GateState, alert: (record: Buffer) => void) {
    this.#state = state;
    this.#rules = { isConnected: false, handshakeBytesLeft: MAX_HANDSHAKE_BYTES, alert };
  }

  /** Returns what the library may process of a datagram; null: nothing. */
  admit(data: Buffer, source: Source): Buffer | null {
    const first = data[0];
    // Nothing can be sent to port 0, so nobody receives there.
    if (first === undefined || source[1] === 0) return null;
    // Kinds of packets by their first byte: RFC 7983, section 7.
    if (first <= 3) return this.#admitStun(data, source);
    // Not only the nominated one: Chromium moves between its own addresses when it has nominated one.
    if (!this.#sources.has(nameOf(source))) return null;
    if (first >= 20 && first <= 63) return this.#admitDtls(data);
    const isMedia = first >= 128 && first <= 191 && this.#state.isEncrypted;
    return isMedia && data.length >= MIN_RTP_BYTES && data.length <= MAX_RTP_BYTES ? data : null;
  }

  #admitStun(data: Buffer, source: Source): Buffer | null {
    const request = authenticatedRequest(data, this.#state.credentials);
    if (request === null) return null;
    const name = nameOf(source);
    // The newest is last.
    this.#sources.delete(name);
    this.#sources.add(name);
    const [oldest] = this.#sources;
    if (this.#sources.size > MAX_SOURCES && oldest !== undefined) this.#sources.delete(oldest);
    return request;
  }

  #admitDtls(data: Buffer): Buffer | null {
    this.#rules.isConnected = this.#state.isEncrypted;
    return acceptableRecords(data, this.#rules);
  }
}

function nameOf([address, port]: Source): string {
  return `${address} ${String(port)}`;
}
