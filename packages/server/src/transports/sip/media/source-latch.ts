/**
 * Decides from where media may come, and so where ours go (symmetric RTP): phones behind a NAT do not know their own
 * address. Anyone can send to the port, so a datagram of a stranger must neither be heard nor get our audio.
 *
 * - With SRTP the signature decides: each valid packet may come from a new place.
 * - Without it only the addresses that the signalling has named count. The first of their ports that sends is kept, and
 *   another one takes its place only when it has been silent, as after a restart of the peer. The very port that the
 *   description names needs no silence: it cannot be that of a NAT, nor of another host behind the same one.
 */

/** Silence of the place that is kept before another port may take its place. */
export const KEPT_MS = 1_000;

export interface Place {
  readonly address: string;
  readonly port: number;
}

export class SourceLatch {
  #sources: ReadonlySet<string> = new Set();
  #isSigned = false;
  #named: Place | null = null;
  #place: Place | null = null;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  /** Where media come from; null: none have come. */
  get place(): Place | null {
    return this.#place;
  }

  /**
   * Media were agreed on, perhaps again. A place that may not send any more is forgotten, and so is every place when the
   * other side receives elsewhere from now on.
   *
   * @param named where the other side receives
   */
  agree(named: Place, sources: readonly string[], isSigned: boolean): void {
    const isMoved = this.#named !== null && !isSame(this.#named, named);
    this.#named = named;
    this.#sources = new Set(sources);
    this.#isSigned = isSigned;
    const mayStay = isSigned || this.#place === null || this.#sources.has(this.#place.address);
    if (isMoved || !mayStay) this.#place = null;
  }

  isPlace(from: Place): boolean {
    return this.#place !== null && isSame(this.#place, from);
  }

  /** Whether a datagram from there is worth reading. Cheap: it is asked before anything is read. */
  admits(from: Place, nowMs: number): boolean {
    // Nothing can be sent to port 0.
    if (from.port === 0) return false;
    if (this.#isSigned || this.isPlace(from)) return true;
    if (!this.#sources.has(from.address)) return false;
    if (this.#place === null || (this.#named !== null && isSame(this.#named, from))) return true;
    return nowMs - this.#heardAtMs >= KEPT_MS;
  }

  /** A datagram from there that `admits` has let pass was valid. */
  heard(from: Place, nowMs: number): void {
    if (!this.isPlace(from)) this.#place = { address: from.address, port: from.port };
    this.#heardAtMs = nowMs;
  }
}

function isSame(one: Place, other: Place): boolean {
  return one.port === other.port && one.address === other.address;
}
