/**
 * How many messages a source may send before any of them is parsed: a token bucket for each address, and one for all
 * addresses that are not known. Pure; time is an argument.
 */

export interface FloodRates {
  readonly perSecond: number;
  /** Messages at once after a silence. */
  readonly burst: number;
}

export interface FloodLimits {
  /** A single caller without a trunk: a call has some ten messages. */
  readonly unknown: FloodRates;
  /** A trunk or registrar of an account: 100 calls a second. */
  readonly known: FloodRates;
  /** All unknown sources together: source addresses of UDP can be invented. */
  readonly allUnknown: FloodRates;
}

export const FLOOD_LIMITS: FloodLimits = {
  unknown: { perSecond: 30, burst: 120 },
  known: { perSecond: 2_000, burst: 4_000 },
  allUnknown: { perSecond: 1_000, burst: 2_000 },
};

/** Addresses that are remembered; the one that was heard least recently is forgotten first. */
const MAX_SOURCES = 10_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

export class FloodGate {
  readonly #limits: FloodLimits;
  readonly #buckets = new Map<string, Bucket>();
  readonly #all: Bucket;
  /** Messages that were not let through. */
  dropped = 0;

  constructor(limits: FloodLimits = FLOOD_LIMITS) {
    this.#limits = limits;
    this.#all = { tokens: limits.allUnknown.burst, atMs: 0 };
  }

  get sources(): number {
    return this.#buckets.size;
  }

  admit(address: string, isKnown: boolean, nowMs: number): boolean {
    const rates = isKnown ? this.#limits.known : this.#limits.unknown;
    const key = networkOf(address);
    const bucket = this.#buckets.get(key) ?? { tokens: rates.burst, atMs: nowMs };
    // To the end of the map, which is in the order of the last messages.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_SOURCES) this.#forgetOldest();
    const isAdmitted =
      take(bucket, rates, nowMs) && (isKnown || take(this.#all, this.#limits.allUnknown, nowMs));
    if (!isAdmitted) this.dropped += 1;
    return isAdmitted;
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

function take(bucket: Bucket, { perSecond, burst }: FloodRates, nowMs: number): boolean {
  const gained = (Math.max(0, nowMs - bucket.atMs) / 1_000) * perSecond;
  bucket.tokens = Math.min(burst, bucket.tokens + gained);
  bucket.atMs = nowMs;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

/** A subscriber of IPv6 has a network of 64 bits. */
export function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const groups = head.split(":").filter((group) => group !== "");
  const after = (tail ?? "").split(":").filter((group) => group !== "").length;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - groups.length - after);
  const padded = [...groups, ...Array.from({ length: zeros }, () => "0"), ...(tail ?? "").split(":")];
  return padded.slice(0, 4).join(":");
}
