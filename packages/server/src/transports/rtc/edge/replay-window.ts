/** Finds packets that come twice, by their numbers (RFC 6347, section 4.1.2.6; RFC 3711, section 3.3.2). */

/** Packets that may come later than a newer one: 1,024 packets of speech are 20 s. */
const WINDOW = 1_024;

export class ReplayWindow {
  #highest = -1;
  /** At `number % WINDOW` the number that was accepted last; -1: none. */
  readonly #accepted = new Float64Array(WINDOW).fill(-1);

  /** Whether a packet with this number may be new. Numbers below the window count as old. */
  isNew(number: number): boolean {
    return number > this.#highest - WINDOW && this.#accepted[number % WINDOW] !== number;
  }

  /** Only for packets whose signature is valid: others would move the window. */
  accept(number: number): void {
    this.#accepted[number % WINDOW] = number;
    if (number > this.#highest) this.#highest = number;
  }

  /** The number with these lowest 16 bits that is nearest to the highest one accepted. At least 0. */
  extended(low: number): number {
    if (this.#highest < 0) return low + 0x1_0000;
    const base = this.#highest - (this.#highest % 0x1_0000);
    const candidates = [base - 0x1_0000 + low, base + low, base + 0x1_0000 + low];
    let nearest = base + low;
    for (const candidate of candidates) {
      if (candidate >= 0 && Math.abs(candidate - this.#highest) < Math.abs(nearest - this.#highest)) {
        nearest = candidate;
      }
    }
    return nearest;
  }
}

/** Decrypts each packet once, by its source. */
export class ReplayGuard {
  readonly #mostSources: number;
  readonly #windows = new Map<number, ReplayWindow>();

  constructor(mostSources: number) {
    this.#mostSources = mostSources;
  }

  /**
   * @param numberIn the packet's number, as the window of its source counts
   * @param decrypt throws where the signature is not valid; the packet is then not counted as received
   * @throws where the packet was received before, or is the first of one source too many
   */
  once(source: number, numberIn: (window: ReplayWindow) => number, decrypt: () => Buffer): Buffer {
    const known = this.#windows.get(source);
    if (known?.isNew(numberIn(known)) === false) throw new Error("a packet that was received before");
    const plain = decrypt();
    const window = known ?? this.#add(source);
    window.accept(numberIn(window));
    return plain;
  }

  #add(source: number): ReplayWindow {
    if (this.#windows.size >= this.#mostSources) throw new Error("too many sources of one client");
    const window = new ReplayWindow();
    this.#windows.set(source, window);
    return window;
  }
}
