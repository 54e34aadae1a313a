/**
 * Sealing of what must not be readable in the database: AES-256-GCM under a key derived from SECRETS_KEY. A sealed text
 * is `v1.<key id>.<base64url of nonce (12 bytes), tag (16), ciphertext>`.
 */

import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from "node:crypto";
import type { Sealer } from "../database/sealer.ts";
import { StoreStartError } from "../database/store-errors.ts";

export class SealError extends Error {
  override readonly name = "SealError";
}

export const SECRETS_KEY_BYTES = 32;

const FORMAT = "v1";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const KEY_ID_DIGITS = 8;

export function createSealer(secretsKey: Uint8Array): Sealer {
  if (secretsKey.byteLength !== SECRETS_KEY_BYTES) {
    throw new StoreStartError(`SECRETS_KEY must be ${SECRETS_KEY_BYTES} bytes in base64.`);
  }
  const key = deriveKey(secretsKey, "seal");
  const keyId = Buffer.from(deriveKey(secretsKey, "key id")).toString("hex").slice(0, KEY_ID_DIGITS);
  return {
    keyId,
    seal: (text, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      const body = Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString("base64url");
      return `${FORMAT}.${keyId}.${body}`;
    },
    open: (sealed, context) => {
      const [format, sealedBy, body] = sealed.split(".");
      if (format !== FORMAT || body === undefined) throw new SealError("A sealed value has an unknown form.");
      if (sealedBy !== keyId) throw new SealError("A sealed value was sealed with another SECRETS_KEY.");
      return openBody(key, Buffer.from(body, "base64url"), context);
    },
  };
}

function openBody(key: Uint8Array, body: Buffer, context: string): string {
  if (body.byteLength < NONCE_BYTES + TAG_BYTES) throw new SealError("A sealed value is incomplete.");
  const decipher = createDecipheriv("aes-256-gcm", key, body.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(context))
    .setAuthTag(body.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    const text = decipher.update(body.subarray(NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch (error) {
    throw new SealError("A sealed value does not open: it was changed or moved.", { cause: error });
  }
}

/** Derives a separate key for each purpose (HKDF, RFC 5869), 32 bytes. */
export function deriveKey(secretsKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secretsKey, "", `parley ${purpose}`, SECRETS_KEY_BYTES));
}

/** SHA-256 in hex. For random tokens of 128 bits and more, which need no slow hash. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** In constant time. */
export function isHashOf(hash: string, token: string): boolean {
  const expected = Buffer.from(hash, "hex");
  const actual = createHash("sha256").update(token).digest();
  return expected.byteLength === actual.byteLength && timingSafeEqual(expected, actual);
}
