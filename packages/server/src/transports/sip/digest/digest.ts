/** Digest authentication as a client (RFC 8760, RFC 7616, RFC 3261, 22). Pure: the random value is an argument. */

import { createHash } from "node:crypto";
import { listOf } from "../message/headers.ts";
import type { SipResponse } from "../message/message.ts";
import { isToken, quoted, unquoted } from "../message/syntax.ts";
import type { SipCredentials } from "../user-agent.ts";

const ALGORITHMS = { "SHA-256": "sha256", MD5: "md5" } as const;
type Algorithm = keyof typeof ALGORITHMS;

export interface Challenge {
  readonly isProxy: boolean;
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | null;
  readonly algorithm: Algorithm;
  /** `-sess`: the hash of the password covers the nonces. */
  readonly isBound: boolean;
  /** False: the old form without `qop`. */
  readonly hasQop: boolean;
  /** The nonce is old, and the password was right. */
  readonly isStale: boolean;
}

export interface DigestUse {
  readonly credentials: SipCredentials;
  readonly method: string;
  readonly uri: string;
  /** Random; 16 characters. */
  readonly cnonce: string;
  /** How often this nonce has been used, from 1. */
  readonly count: number;
}

/** Of a realm, nonce and the like. */
const MAX_FIELD_CHARS = 2_048;

/** The challenges of a 401 or 407 that can be answered; the strongest algorithm first. */
export function challengesOf(response: SipResponse): readonly Challenge[] {
  const name = response.status === 407 ? "proxy-authenticate" : "www-authenticate";
  const found = response.headers
    .filter((header) => header.name === name)
    .flatMap((header) => readChallenge({ headers: [header] }, name, response.status === 407) ?? []);
  return found.toSorted((one, other) => rank(one) - rank(other));
}

function rank({ algorithm }: Challenge): number {
  return algorithm === "SHA-256" ? 0 : 1;
}

function readChallenge(
  message: Pick<SipResponse, "headers">,
  name: string,
  isProxy: boolean,
): Challenge | null {
  const parts = listOf(message, name);
  const [, first = ""] = /^Digest\s+(.*)$/isu.exec(parts?.[0] ?? "") ?? [];
  if (parts === null || first === "") return null;
  const fields = new Map<string, string>();
  for (const part of [first, ...parts.slice(1)]) {
    const [, key = "", raw = ""] = /^([A-Za-z-]+)\s*=\s*(.*)$/su.exec(part) ?? [];
    const value = raw.startsWith('"') ? unquoted(raw) : isToken(raw) ? raw : null;
    if (value === null || value.length > MAX_FIELD_CHARS) return null;
    if (!fields.has(key.toLowerCase())) fields.set(key.toLowerCase(), value);
  }
  const [, algorithm = "", suffix] = /^(MD5|SHA-256)(-sess)?$/i.exec(fields.get("algorithm") ?? "MD5") ?? [];
  const realm = fields.get("realm");
  const nonce = fields.get("nonce");
  const qop = fields
    .get("qop")
    ?.toLowerCase()
    .split(/[\s,]+/);
  if (algorithm === "" || realm === undefined || nonce === undefined) return null;
  if (qop?.includes("auth") === false) return null;
  return {
    isProxy,
    realm,
    nonce,
    opaque: fields.get("opaque") ?? null,
    algorithm: algorithm.toUpperCase() === "MD5" ? "MD5" : "SHA-256",
    isBound: suffix !== undefined,
    hasQop: qop !== undefined,
    isStale: fields.get("stale")?.toLowerCase() === "true",
  };
}

/** Value of Authorization or Proxy-Authorization. */
export function answerChallenge(challenge: Challenge, use: DigestUse): string {
  const { realm, nonce, algorithm, hasQop, isBound, opaque } = challenge;
  const { credentials, method, uri, cnonce } = use;
  const hash = (text: string) => createHash(ALGORITHMS[algorithm]).update(text, "utf8").digest("hex");
  const plain = hash(`${credentials.username}:${realm}:${credentials.password}`);
  const secret = isBound ? hash(`${plain}:${nonce}:${cnonce}`) : plain;
  const action = hash(`${method}:${uri}`);
  const nc = use.count.toString(16).padStart(8, "0");
  const response = hasQop
    ? hash(`${secret}:${nonce}:${nc}:${cnonce}:auth:${action}`)
    : hash(`${secret}:${nonce}:${action}`);
  const fields = [
    `username=${quoted(credentials.username)}`,
    `realm=${quoted(realm)}`,
    `nonce=${quoted(nonce)}`,
    `uri=${quoted(uri)}`,
    `response="${response}"`,
    `algorithm=${algorithm}${isBound ? "-sess" : ""}`,
    ...(hasQop || isBound ? [`cnonce="${cnonce}"`] : []),
    ...(hasQop ? ["qop=auth", `nc=${nc}`] : []),
    ...(opaque === null ? [] : [`opaque=${quoted(opaque)}`]),
  ];
  return `Digest ${fields.join(", ")}`;
}
