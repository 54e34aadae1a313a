/**
 * Access tokens of rooms (JWT, RFC 7519, signed with HMAC and SHA-256), which clients get in `room_info`. Libraries pass
 * them on as they are; some read the claims.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../../store/secrets/secrets.ts";

/** A client shows it again whenever it connects again, so it lasts longer than a call. After the call it is of no use. */
const TOKEN_LIFE_MS = 24 * 3_600_000;
/** Ours have some 300 characters. */
const MAX_TOKEN_CHARS = 1_024;
/** Clocks of clients that check the beginning may be late. */
const CLOCK_SLACK_S = 60;

const HEADER = Buffer.from(JSON.stringify({ alg: "HS256", typ: "JWT" })).toString("base64url");

export interface RoomTokens {
  readonly write: (callId: string, nowMs: number) => string;
  /** Whether the token was written for this call, and has not expired. */
  readonly isValid: (token: string, callId: string, nowMs: number) => boolean;
}

/** `secretsKey` is the deployment's key, so that each of its processes accepts the tokens of the others. */
export function roomTokens(secretsKey: Uint8Array): RoomTokens {
  const key = deriveKey(secretsKey, "rooms");
  const sign = (signed: string): Buffer => createHmac("sha256", key).update(signed).digest();
  return {
    write: (callId, nowMs) => {
      const nowS = Math.floor(nowMs / 1_000);
      const claims = {
        iss: "parley",
        sub: "user",
        nbf: nowS - CLOCK_SLACK_S,
        exp: nowS + TOKEN_LIFE_MS / 1_000,
        video: { roomJoin: true, room: callId },
      };
      const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
      return `${signed}.${sign(signed).toString("base64url")}`;
    },
    isValid: (token, callId, nowMs) => {
      if (token.length > MAX_TOKEN_CHARS) return false;
      const [header = "", claims = "", signature = "", ...rest] = token.split(".");
      if (rest.length > 0) return false;
      const given = Buffer.from(signature, "base64url");
      const expected = sign(`${header}.${claims}`);
      // A last letter whose unused bits were altered decodes to the same bytes.
      if (given.toString("base64url") !== signature || given.length !== expected.length) return false;
      if (!timingSafeEqual(given, expected)) return false;
      return isFor(Buffer.from(claims, "base64url").toString("utf8"), callId, nowMs);
    },
  };
}

/** The claims are our own: their signature was checked. */
function isFor(claims: string, callId: string, nowMs: number): boolean {
  const { exp, video } = JSON.parse(claims) as {
    readonly exp: number;
    readonly video: { readonly room: string };
  };
  return video.room === callId && exp * 1_000 > nowMs;
}
