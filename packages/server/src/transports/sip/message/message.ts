/** Messages as they are built and sent, and as they are after their checks. */

import type { SipHeader } from "../user-agent.ts";
import type { NameAddr } from "./name-addr.ts";
import type { Via } from "./via.ts";

/** What is written to the wire. `content-length` is added by `serialize`. */
export interface RequestText {
  readonly kind: "request";
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly SipHeader[];
  readonly body: Buffer;
}

export interface ResponseText {
  readonly kind: "response";
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly SipHeader[];
  readonly body: Buffer;
}

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

/** The fields that every message has, as they were read. */
export interface Essentials {
  /** The first one. */
  readonly via: Via;
  readonly from: NameAddr;
  readonly to: NameAddr;
  readonly callId: string;
  readonly cseq: CSeq;
}

export type SipRequest = RequestText & Essentials;
export type SipResponse = ResponseText & Essentials;

/** Largest message: what a datagram can hold. A description with many codecs has 3,000 bytes. */
export const MAX_MESSAGE_BYTES = 65_535;
/** Header fields of a message. Long calls through many proxies have some forty. */
export const MAX_HEADERS = 256;
/** Characters of one field with its folded lines. */
export const MAX_HEADER_CHARS = 8_192;
/** Via fields; a request passes 70 proxies at most (Max-Forwards). */
export const MAX_VIAS = 80;
/** Largest number of a sequence: 2^31 - 1 (RFC 3261, 8.1.1.5). */
export const MAX_CSEQ = 2 ** 31 - 1;

export const NO_BODY = Buffer.alloc(0);
