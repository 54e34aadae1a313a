/** Listeners by the name of what has happened. */

export type Listener<Value> = (value: Value) => void;

export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  /** @returns a function that takes the listener away again */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Tells all. One that throws does not keep the others from hearing: its error is reported as uncaught. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    // Who is added meanwhile hears of the next one.
    const listeners = Array.from(this.#listeners.get(name) ?? []);
    for (const listener of listeners) {
      try {
        (listener as Listener<Events[Name]>)(value);
      } catch (error) {
        reportError(error);
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
