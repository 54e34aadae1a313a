/** Addresses from which accounts take calls over SIP, in memory: each message of the network is compared with them. */

import { BlockList, isIPv4 } from "node:net";

/** Changes of other processes are seen within this time. */
const REFRESH_INTERVAL_MS = 30_000;
/** An unknown source makes the list be read again, but not more often. */
const LEAST_REFRESH_MS = 2_000;

/**
 * Ranges of more than 65,536 addresses let their addresses call, but not send more than strangers may: an account that
 * takes calls from everywhere must not switch off the limits that protect all others. Trunks publish ranges of 4 to 4,096.
 */
const LEAST_KNOWN_BITS = 16;

export interface KnownSourcesDeps {
  readonly read: () => Promise<readonly string[]>;
  readonly nowMs: () => number;
  readonly failed: (error: unknown) => void;
}

export class KnownSources {
  readonly #deps: KnownSourcesDeps;
  #ranges = new BlockList();
  /** Those that are not too wide. */
  #known = new BlockList();
  #registrars: ReadonlySet<string> = new Set();
  #readAtMs: number | null = null;
  #reading: Promise<void> | null = null;

  constructor(deps: KnownSourcesDeps) {
    this.#deps = deps;
  }

  /** Addresses of registrars that call us by our registrations. */
  setRegistrars(addresses: ReadonlySet<string>): void {
    this.#registrars = addresses;
  }

  /** Whether an address may send more than a stranger may. By the last reading. Begins the next one when that is old. */
  has(address: string): boolean {
    if (this.#ageMs() > REFRESH_INTERVAL_MS) void this.#refresh();
    return this.#registrars.has(address) || isInRanges(this.#known, address);
  }

  /** Whether an account has listed the address, with what has changed within the last seconds. */
  async hasNow(address: string): Promise<boolean> {
    if (isInRanges(this.#ranges, address)) return true;
    if (this.#reading !== null || this.#ageMs() > LEAST_REFRESH_MS) await this.#refresh();
    return isInRanges(this.#ranges, address);
  }

  #ageMs(): number {
    return this.#readAtMs === null ? Infinity : this.#deps.nowMs() - this.#readAtMs;
  }

  /** Never rejects. */
  #refresh(): Promise<void> {
    return (this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    }));
  }

  async #read(): Promise<void> {
    this.#readAtMs = this.#deps.nowMs();
    try {
      const ranges = await this.#deps.read();
      this.#ranges = rangesOf(ranges);
      this.#known = rangesOf(ranges.filter((range) => bitsOf(range) >= LEAST_KNOWN_BITS));
    } catch (error) {
      this.#deps.failed(error);
    }
  }
}

/** Ranges as they are stored, such as `203.0.113.0/24`. */
export function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = ""] = range.split("/");
    list.addSubnet(address, bitsOf(range), "ipv4");
  }
  return list;
}

function bitsOf(range: string): number {
  return Number(range.split("/")[1] ?? "32");
}

export function isInRanges(list: BlockList, address: string): boolean {
  return isIPv4(address) && list.check(address, "ipv4");
}
