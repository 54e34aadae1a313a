/** Requests that wait for a place on a socket, in the order of their arrival. */

import { abortError } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { Timers } from "./socket-request.ts";

export interface WaitingLineOptions {
  readonly vendor: string;
  readonly most: number;
  readonly limitMs: number;
  readonly timers: Timers;
}

interface Waiting<Place> {
  readonly key: string;
  readonly take: () => Place | null;
  readonly given: (place: Place) => void;
  readonly refused: (error: Error) => void;
}

export class WaitingLine<Place> {
  readonly #options: WaitingLineOptions;
  #waiting: Waiting<Place>[] = [];
  #isServing = false;

  constructor(options: WaitingLineOptions) {
    this.#options = options;
  }

  has(key: string): boolean {
    return this.#waiting.some((one) => one.key === key);
  }

  /** Resolves with what `take` gives when it gives something. Rejects when the line is full, or when it takes too long. */
  wait(key: string, take: () => Place | null, signal: AbortSignal): Promise<Place> {
    const { vendor, most, limitMs, timers } = this.#options;
    if (this.#waiting.length >= most)
      return Promise.reject(busy(`${vendor} has ${String(most)} waiting requests`));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting);
        cancel();
        signal.removeEventListener("abort", abort);
      };
      const waiting: Waiting<Place> = {
        key,
        take,
        given: (place) => {
          leave();
          resolve(place);
        },
        refused: (error) => {
          leave();
          reject(error);
        },
      };
      const abort = (): void => {
        waiting.refused(abortError());
      };
      const cancel = timers.after(limitMs, () => {
        waiting.refused(busy(`all connections to ${vendor} were busy for ${String(limitMs / 1_000)} s`));
      });
      this.#waiting.push(waiting);
      signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Something became free. Requests of one key keep their order; those of another key pass them. */
  serve(): void {
    // `take` may close a socket, which comes back here.
    if (this.#isServing) return;
    this.#isServing = true;
    const blocked = new Set<string>();
    for (const waiting of this.#waiting) {
      if (blocked.has(waiting.key)) continue;
      const place = waiting.take();
      if (place === null) blocked.add(waiting.key);
      else waiting.given(place);
    }
    this.#isServing = false;
  }

  close(failure: Error): void {
    for (const waiting of this.#waiting) waiting.refused(failure);
  }
}

function busy(message: string): EngineFailure {
  return new EngineFailure(message, { type: "busy" });
}
