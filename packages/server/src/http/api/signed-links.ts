/** Temporary addresses that need no API key: what they show, and until when, is signed. */

import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../../store/secrets/secrets.ts";

/** What a link shows. */
export interface LinkTarget {
  readonly accountId: string;
  readonly callId: string;
}

/** Time in which a client that has got the address may open it. */
export const LINK_LIFE_MS = 300_000;
/** Bytes used of the 32 of SHA-256; 128 bits cannot be guessed and keep the URL short. */
const SIGNATURE_BYTES = 16;
/** An account and a time have 50 characters. */
const MAX_TOKEN_CHARS = 256;

export interface LinkSigner {
  readonly write: (target: LinkTarget, nowMs: number) => string;
  /** `expired` only for a token that was valid. Null: it was not made for this call. */
  readonly read: (token: string, callId: string, nowMs: number) => LinkTarget | "expired" | null;
}

/** `secretsKey` is the deployment's key; a link for one purpose is not valid for another. */
export function linkSigner(secretsKey: Uint8Array, purpose: string): LinkSigner {
  const key = deriveKey(secretsKey, `links: ${purpose}`);
  const sign = (payload: string, callId: string): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([callId, payload]))
      .digest()
      .subarray(0, SIGNATURE_BYTES);
  return {
    write: ({ accountId, callId }, nowMs) => {
      const payload = `${accountId}.${String(nowMs + LINK_LIFE_MS)}`;
      return `${payload}.${sign(payload, callId).toString("base64url")}`;
    },
    read: (token, callId, nowMs) => {
      if (token.length > MAX_TOKEN_CHARS) return null;
      const [accountId = "", until = "", signature = "", ...rest] = token.split(".");
      const given = Buffer.from(signature, "base64url");
      const isGood =
        rest.length === 0 &&
        given.length === SIGNATURE_BYTES &&
        // A last letter whose unused bits were altered decodes to the same bytes.
        given.toString("base64url") === signature &&
        timingSafeEqual(given, sign(`${accountId}.${until}`, callId));
      if (!isGood) return null;
      return Number(until) < nowMs ? "expired" : { accountId, callId };
    },
  };
}
