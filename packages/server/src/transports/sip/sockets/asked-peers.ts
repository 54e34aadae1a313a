/**
 * Addresses that we have sent requests to: their answers, and their requests in calls with them, are no flood. A trunk
 * that is only called is in no account's list of sources. Pure; time is an argument.
 */

/** Longer than ringing (3 min); calls are refreshed within an hour at least, and a BYE needs no high limit. */
const KEPT_MS = 600_000;
/** The one that was asked least recently is forgotten first. */
const MAX_PEERS = 2_000;

export class AskedPeers {
  readonly #untilMs = new Map<string, number>();

  note(address: string, nowMs: number): void {
    // To the end of the map, which is in the order of the last requests.
    this.#untilMs.delete(address);
    this.#untilMs.set(address, nowMs + KEPT_MS);
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size > MAX_PEERS && oldest !== undefined) this.#untilMs.delete(oldest);
  }

  has(address: string, nowMs: number): boolean {
    const untilMs = this.#untilMs.get(address);
    if (untilMs === undefined) return false;
    if (untilMs > nowMs) return true;
    this.#untilMs.delete(address);
    return false;
  }
}
