/**
 * Joins under way: this process has a claim on the call or is getting one, and the client is not connected yet. Another
 * process that asks for the call learns that it is joined, as a second join at this one would.
 */
export class JoiningCalls {
  /** How many joins of a call are under way. */
  readonly #counts = new Map<string, number>();

  async during<Outcome>(callId: string, join: () => Promise<Outcome>): Promise<Outcome> {
    this.#counts.set(callId, (this.#counts.get(callId) ?? 0) + 1);
    try {
      return await join();
    } finally {
      const count = (this.#counts.get(callId) ?? 1) - 1;
      if (count === 0) this.#counts.delete(callId);
      else this.#counts.set(callId, count);
    }
  }

  has(callId: string): boolean {
    return this.#counts.has(callId);
  }
}
