/** A typed event emitter. */

export type Listener<Value> = (value: Value) => void;

export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  /** @returns a function that removes the listener */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }

  /** Calls all listeners. An error of one is reported as uncaught and does not stop the others. */
  emit<Name extends keyof Events>(name: Name, value: Events[Name]): void {
    // A listener added meanwhile gets the next event.
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
