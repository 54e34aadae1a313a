/** Keys of SRTP in session descriptions (RFC 4568). They are secret only where the signalling is encrypted. */

import type { SrtpKey } from "../../rtc/rtp-media.ts";
import { type SdpMedia, valuesOf } from "./description.ts";

export const SUITE = "AES_CM_128_HMAC_SHA1_80";
export const KEY_BYTES = 16;
export const SALT_BYTES = 14;

export interface CryptoLine {
  readonly tag: string;
  readonly key: SrtpKey;
}

/** Lines that can be used, in the order of the other side's preference. Others are passed over. */
export function cryptoLines({ attributes }: SdpMedia): CryptoLine[] {
  return valuesOf(attributes, "crypto").flatMap((value) => {
    // Parameters behind the key, such as UNENCRYPTED_SRTP, change what the packets are like.
    const [, tag, key] =
      /^(\d{1,9}) AES_CM_128_HMAC_SHA1_80 inline:([A-Za-z0-9+/]{40})={0,2}(?:\|(?:2\^\d{1,2}|\d{1,15}))?$/.exec(
        value.trim(),
      ) ?? [];
    return tag === undefined || key === undefined ? [] : [{ tag, key: keyOf(key) }];
  });
}

function keyOf(text: string): SrtpKey {
  // Memory of its own: it goes to another thread.
  const bytes = Uint8Array.from(Buffer.from(text, "base64"));
  return { key: bytes.slice(0, KEY_BYTES), salt: bytes.slice(KEY_BYTES) };
}

const CRYPTO_LINE = "a=crypto:";

/** Whether a description has keys, which may be sent over TLS only. */
export function hasKeys(description: Buffer | string): boolean {
  return description.includes(CRYPTO_LINE);
}

/** The value of `a=crypto`. */
export function cryptoValue({ tag, key }: CryptoLine): string {
  return `${tag} ${SUITE} inline:${Buffer.concat([key.key, key.salt]).toString("base64")}`;
}
