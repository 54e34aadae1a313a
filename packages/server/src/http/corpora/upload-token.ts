/**
 * The secret part of an upload address: chance, and a signature of it. The signature is checked before the database is
 * asked, so that nobody makes work for it with addresses that were never given.
 */

import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** 192 bits of chance. */
const NONCE_BYTES = 24;
const SIGNATURE_BYTES = 16;
/** 40 bytes in base64url. */
const TOKEN = /^[\w-]{54}$/;

export interface UploadTokens {
  make(): string;
  isGenuine(token: string): boolean;
}

/** `secretsKey` has 32 bytes; only a key that is derived from it signs. */
export function uploadTokens(secretsKey: Uint8Array): UploadTokens {
  const key = new Uint8Array(hkdfSync("sha256", secretsKey, "", "corpus upload addresses", 32));
  const signature = (nonce: Uint8Array): Buffer =>
    createHmac("sha256", key).update(nonce).digest().subarray(0, SIGNATURE_BYTES);
  return {
    make() {
      const nonce = randomBytes(NONCE_BYTES);
      return Buffer.concat([nonce, signature(nonce)]).toString("base64url");
    },
    isGenuine(token) {
      if (!TOKEN.test(token)) return false;
      const bytes = Buffer.from(token, "base64url");
      if (bytes.length !== NONCE_BYTES + SIGNATURE_BYTES) return false;
      return timingSafeEqual(signature(bytes.subarray(0, NONCE_BYTES)), bytes.subarray(NONCE_BYTES));
    },
  };
}
