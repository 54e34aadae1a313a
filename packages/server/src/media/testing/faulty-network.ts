/** A network that loses and delays packets, the same ones in every run. Time comes in as a number. */

import { seeded } from "./seeded.ts";

export interface NetworkFaults {
  readonly seed: number;
  /** 0..1; each packet by itself. */
  readonly lossShare: number;
  /** Each packet is delayed by something between 0 and this, so that packets overtake one another. */
  readonly jitterMs: number;
}

export interface Arrival<Packet> {
  readonly packet: Packet;
  readonly atMs: number;
}

export class FaultyNetwork<Packet> {
  readonly #faults: NetworkFaults;
  readonly #random: () => number;
  lost = 0;
  passed = 0;

  constructor(faults: NetworkFaults) {
    this.#faults = faults;
    this.#random = seeded(faults.seed);
  }

  /** When the packet arrives; null when it does not. */
  send(packet: Packet, nowMs: number): Arrival<Packet> | null {
    const { lossShare, jitterMs } = this.#faults;
    // Both are drawn always, so that more loss leaves the delays as they were.
    const [loss, delay] = [this.#random(), this.#random()];
    if (loss < lossShare) {
      this.lost += 1;
      return null;
    }
    this.passed += 1;
    return { packet, atMs: nowMs + delay * jitterMs };
  }
}
