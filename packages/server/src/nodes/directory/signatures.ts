/**
 * How processes of one deployment recognise each other: an HMAC with a key that only they can derive, over everything
 * that decides what a request does. It names the process that it is meant for, so no other one accepts it.
 */

import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;
const KEY_PURPOSE = "parley: requests between nodes";
/** 128 bits: no two requests have the same. */
const NONCE_BYTES = 16;

/** From the bytes of SECRETS_KEY, which all processes of a deployment have. */
export function nodeKey(secretsKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secretsKey, new Uint8Array(0), KEY_PURPOSE, KEY_BYTES));
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  /** The boot of the process that is to carry it out. */
  readonly target: string;
  /** By the clock of the database, ms since 1970. */
  readonly atMs: number;
  readonly nonce: string;
  /** SHA-256 of the body, in hexadecimal digits. */
  readonly bodyHash: string;
}

export function signRequest(key: Uint8Array, request: SignedRequest): string {
  const { method, path, target, atMs, nonce, bodyHash } = request;
  return hmac(key, ["parley-node-request-1", method, path, target, String(atMs), nonce, bodyHash]);
}

/** The answer to the request with this nonce, so that nobody else at the address can give one. */
export function signAnswer(key: Uint8Array, nonce: string, status: number, bodyHash: string): string {
  return hmac(key, ["parley-node-answer-1", nonce, String(status), bodyHash]);
}

/** In constant time. */
export function isSignature(expected: string, given: string): boolean {
  const wanted = Buffer.from(expected);
  const presented = Buffer.from(given);
  return wanted.length === presented.length && timingSafeEqual(wanted, presented);
}

export function hashOf(body: string | Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}

export function newNonce(): string {
  return randomBytes(NONCE_BYTES).toString("hex");
}

/** No part contains a line break: the form of each is checked, or it is made here. */
function hmac(key: Uint8Array, parts: readonly string[]): string {
  return createHmac("sha256", key).update(parts.join("\n")).digest("base64url");
}
