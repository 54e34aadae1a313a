/** Request rates (D27): token buckets that hold one second's worth, in maps that cannot grow without bound. */

import { isIPv6 } from "node:net";
import { ApiError } from "@parley/schema";

/**
 * Buckets stored per limit. One is about 100 bytes, so this bounds a map to a few MB even when every request comes from
 * another address. The least recently used bucket is evicted first, when it would be nearly full anyway.
 */
export const MAX_BUCKETS = 20_000;

/** Tokens are counted in thousandths, so that whole rates give whole numbers. */
const TOKEN = 1000;

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export interface RateLimit {
  /** Takes one token. Returns 0 when there was one, otherwise the wait in ms until there is one. */
  readonly take: (name: string, atMs: number) => number;
  /** The wait in ms until a token is available; takes none. */
  readonly peek: (name: string, atMs: number) => number;
}

export interface RateLimitOptions {
  readonly maxBuckets?: number;
  /** The part of the rate that holds here, from 0 to 1; the rest belongs to other nodes. It may change. */
  readonly share?: () => number;
}

/** Wait for a node without a share: it gets one within two seconds. */
const NO_SHARE_WAIT_MS = 2_000;

const UNLIMITED: RateLimit = { take: () => 0, peek: () => 0 };

/** A limit of `perSecond` for each name separately; 0 turns it off. */
export function rateLimit(
  perSecond: number,
  { maxBuckets = MAX_BUCKETS, share = () => 1 }: RateLimitOptions = {},
): RateLimit {
  if (perSecond <= 0) return UNLIMITED;
  // A rate below one a second still needs capacity for one whole token.
  const capacity = (): number => Math.max(TOKEN, perSecond * share() * TOKEN);
  const buckets = new Map<string, Bucket>();

  const tokensOf = (bucket: Bucket, atMs: number): number => {
    const elapsedMs = Math.max(0, atMs - bucket.filledAtMs);
    return Math.min(capacity(), bucket.tokens + elapsedMs * perSecond * share());
  };
  const waitMs = (tokens: number): number => {
    const rate = perSecond * share();
    if (rate === 0) return NO_SHARE_WAIT_MS;
    return tokens >= TOKEN ? 0 : Math.ceil((TOKEN - tokens) / rate);
  };

  return {
    peek: (name, atMs) => {
      const bucket = buckets.get(name);
      return bucket === undefined ? 0 : waitMs(tokensOf(bucket, atMs));
    },
    take: (name, atMs) => {
      const bucket = buckets.get(name) ?? { tokens: capacity(), filledAtMs: atMs };
      // After a clock that stepped back, refilling restarts instead of waiting for the old time.
      if (atMs < bucket.filledAtMs) bucket.filledAtMs = atMs;
      const tokens = tokensOf(bucket, atMs);
      const wait = waitMs(tokens);
      if (wait === 0) {
        bucket.tokens = tokens - TOKEN;
        bucket.filledAtMs = atMs;
      }
      // Deleting first moves the name to the end of the map's order.
      buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > maxBuckets) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      return wait;
    },
  };
}

/** Whole seconds for `Retry-After`, at least 1. */
export function retryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

/** `reason` is a sentence without its period, about what was done too often. */
export function rateLimited(reason: string, waitMs: number): ApiError {
  const seconds = retryAfterSeconds(waitMs);
  return new ApiError("rate_limited", `${reason}; try again in ${String(seconds)} s.`, {
    retryAfterSeconds: seconds,
  });
}

/**
 * What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, because one subscriber owns a
 * whole /64. IPv4 addresses written as IPv6 (`::ffff:192.0.2.1`) count as IPv4.
 */
export function clientOf(address: string): string {
  const plain = address.split("%")[0] ?? address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = "", tail] = plain.toLowerCase().split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array.from({ length: Math.max(0, zeros) }, () => "0"), ...back];
  return groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":");
}
