/** Authenticated STUN binding requests (RFC 8489; their use in ICE: RFC 8445, section 7.3). */

import { createHmac, timingSafeEqual } from "node:crypto";

const HEADER_BYTES = 20;
const MAGIC_COOKIE = 0x2112a442;
const BINDING_REQUEST = 0x0001;
const USERNAME = 0x0006;
const MESSAGE_INTEGRITY = 0x0008;
/** Type and length. */
const ATTRIBUTE_HEADER_BYTES = 4;
const HMAC_SHA1_BYTES = 20;
/** A binding request of a browser has about 100 bytes. */
const MAX_REQUEST_BYTES = 548;

export interface IceCredentials {
  readonly localUsername: string;
  readonly localPassword: string;
  readonly remoteUsername: string;
}

/**
 * Returns the part of a binding request that its sender has signed, as a message of its own. Attributes after
 * MESSAGE-INTEGRITY are removed, because nobody vouches for them.
 *
 * @returns null for everything but a well-formed binding request with the exact user name and a valid signature of one
 *   of the credentials
 */
export function authenticatedRequest(data: Buffer, credentials: readonly IceCredentials[]): Buffer | null {
  if (data.length < HEADER_BYTES || data.length > MAX_REQUEST_BYTES) return null;
  if (data.readUInt16BE(0) !== BINDING_REQUEST || data.readUInt32BE(4) !== MAGIC_COOKIE) return null;
  if (data.readUInt16BE(2) !== data.length - HEADER_BYTES) return null;
  const found = signedPart(data);
  if (found === null) return null;
  const { username, integrityAt } = found;
  const claimed = credentials.find(
    ({ localUsername, remoteUsername }) => username === `${localUsername}:${remoteUsername}`,
  );
  if (claimed === undefined) return null;
  const end = integrityAt + ATTRIBUTE_HEADER_BYTES + HMAC_SHA1_BYTES;
  const message = Buffer.from(data.subarray(0, end));
  // The signature is made over a header whose length ends with MESSAGE-INTEGRITY itself (RFC 8489, section 14.5).
  message.writeUInt16BE(end - HEADER_BYTES, 2);
  const expected = createHmac("sha1", claimed.localPassword)
    .update(message.subarray(0, integrityAt))
    .digest();
  const actual = message.subarray(integrityAt + ATTRIBUTE_HEADER_BYTES);
  return timingSafeEqual(expected, actual) ? message : null;
}

/** Null where an attribute exceeds the message, the user name is missing or repeated, or there is no signature. */
function signedPart(data: Buffer): { username: string; integrityAt: number } | null {
  let username: string | null = null;
  let at = HEADER_BYTES;
  while (at + ATTRIBUTE_HEADER_BYTES <= data.length) {
    const type = data.readUInt16BE(at);
    const length = data.readUInt16BE(at + 2);
    const valueAt = at + ATTRIBUTE_HEADER_BYTES;
    if (valueAt + length > data.length) return null;
    if (type === MESSAGE_INTEGRITY) {
      return username !== null && length === HMAC_SHA1_BYTES ? { username, integrityAt: at } : null;
    }
    if (type === USERNAME) {
      if (username !== null) return null;
      username = data.toString("utf8", valueAt, valueAt + length);
    }
    // Values are padded to a multiple of four bytes.
    at = valueAt + ((length + 3) & ~3);
  }
  return null;
}
