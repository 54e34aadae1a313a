/**
 * Decides from where media may come, and so where ours go (symmetric RTP): phones behind a NAT do not know their own
 * address. Anybody can send to the port, so a datagram of a stranger must neither be heard nor turn our audio to him.
 *
 * - With SRTP the signature decides: each valid packet may come from a new place.
 * - Without it only the addresses that the signalling has named count. The first of their ports that sends is kept, and
 *   another one takes its place only when it has been silent, as after a restart of the peer.
 */

/** Silence of the place that is kept before another port may take its place. */
export const KEPT_MS = 1_000;

export interface Place {
  readonly address: string;
  readonly port: number;
}

export class SourceLatch {
  #sources: ReadonlySet<string>;
  #isSigned: boolean;
  #place: Place | null = null;
  #heardAtMs = Number.NEGATIVE_INFINITY;

  constructor(sources: readonly string[], isSigned: boolean) {
    this.#sources = new Set(sources);
    this.#isSigned = isSigned;
  }

  /** Where media come from; null: none have come. */
  get place(): Place | null {
    return this.#place;
  }

  /** Media were agreed on anew. A place that may not send any more is forgotten. */
  agree(sources: readonly string[], isSigned: boolean): void {
    this.#sources = new Set(sources);
    this.#isSigned = isSigned;
    if (this.#place !== null && !isSigned && !this.#sources.has(this.#place.address)) this.#place = null;
  }

  /** The other side receives elsewhere from now on, so it may send from elsewhere. */
  moved(): void {
    this.#place = null;
  }

  isPlace({ address, port }: Place): boolean {
    return this.#place?.address === address && this.#place.port === port;
  }

  /** Whether a datagram from there is worth reading. Cheap: it is asked before anything is read. */
  admits(from: Place, nowMs: number): boolean {
    // Nothing can be sent to port 0.
    if (from.port === 0) return false;
    if (this.#isSigned || this.isPlace(from)) return true;
    if (!this.#sources.has(from.address)) return false;
    return this.#place === null || nowMs - this.#heardAtMs >= KEPT_MS;
  }

  /** A datagram from there that `admits` has let pass was valid. */
  heard(from: Place, nowMs: number): void {
    if (!this.isPlace(from)) this.#place = { address: from.address, port: from.port };
    this.#heardAtMs = nowMs;
  }
}
