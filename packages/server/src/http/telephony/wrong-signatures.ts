/**
 * Slows down clients that send requests of carriers with wrong signatures, before the database is asked. Carriers send
 * the requests of all their customers from the same addresses, so no account, and no customer of a carrier who is not one
 * of ours, may use up what the others need.
 */

import type { CarrierReply } from "../../telephony/api.ts";
import { clientOf, MAX_BUCKETS, rateLimit, rateLimited } from "../api/rate-limit.ts";

/** About one call, transfer, agent or account, of one client. A call has at most a few requests a second. */
export const WRONG_OF_ONE_PER_SECOND = 20;
/**
 * About calls that are not known, of a client that has sent no right signature lately. Webhooks of calls that come in do
 * not count here: known and unknown agents must look alike, and another customer of the carrier, who points a number at
 * any agent's address, must not hold up the right ones.
 */
export const UNKNOWN_PER_SECOND = 20;
/** Of one client altogether. Bounds the work of the database; each of them costs one or two queries by a key. */
export const WRONG_OF_CLIENT_PER_SECOND = 500;
/** A client with a right signature counts as a carrier for so long, and its requests about the same target pass. */
export const TRUST_MS = 3_600_000;

/** @throws ApiError `rate_limited` */
export type CheckedReply = (
  clientAddress: string,
  /** The id in the path. */
  targetId: string,
  answer: () => Promise<CarrierReply>,
  /** A webhook of a call that comes in. */
  isIncoming?: boolean,
) => Promise<CarrierReply>;

export function limitWrongSignatures(nowMs: () => number): CheckedReply {
  const ofOne = rateLimit(WRONG_OF_ONE_PER_SECOND);
  const ofUnknown = rateLimit(UNKNOWN_PER_SECOND);
  const ofClients = rateLimit(WRONG_OF_CLIENT_PER_SECOND);
  /** When a client has sent a right signature, and for which target, the latest last. */
  const trusted = new Map<string, number>();
  const isTrusted = (key: string, atMs: number): boolean => atMs - (trusted.get(key) ?? -TRUST_MS) < TRUST_MS;
  const trust = (key: string, atMs: number): void => {
    trusted.delete(key);
    trusted.set(key, atMs);
    const [oldest] = trusted.keys();
    if (trusted.size > MAX_BUCKETS && oldest !== undefined) trusted.delete(oldest);
  };
  return async (clientAddress, targetId, answer, isIncoming = false) => {
    const client = clientOf(clientAddress);
    const one = `${client} ${targetId}`;
    const atMs = nowMs();
    const waitMs = Math.max(
      isIncoming && isTrusted(one, atMs) ? 0 : ofOne.peek(one, atMs),
      ofClients.peek(client, atMs),
      isIncoming || isTrusted(client, atMs) ? 0 : ofUnknown.peek(client, atMs),
    );
    if (waitMs > 0) throw rateLimited("Too many requests without the signature of a carrier", waitMs);
    const reply = await answer();
    const isUnknown = reply.kind === "forbidden" ? reply.isKnown !== true : isUnsigned(reply);
    if (reply.kind !== "forbidden" && !isUnknown) {
      trust(client, nowMs());
      if (isIncoming) trust(one, nowMs());
      return reply;
    }
    ofClients.take(client, nowMs());
    ofOne.take(one, nowMs());
    if (isUnknown && !isIncoming) ofUnknown.take(client, nowMs());
    return reply;
  };
}

function isUnsigned(reply: CarrierReply): boolean {
  return reply.kind === "xml" && reply.isUnsigned === true;
}
