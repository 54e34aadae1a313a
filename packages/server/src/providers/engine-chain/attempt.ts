/** One request to one engine that answers in parts: its beginning within a limit, and then the rest. */

import type { Clock } from "../../pacing/clock.ts";
import { errorOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";

export interface AttemptOptions<Part> {
  readonly clock: Clock;
  readonly start: (signal: AbortSignal) => AsyncIterable<Part>;
  /** Whether the answer has begun with this part. Earlier parts are held back until then. */
  readonly begins: (part: Part) => boolean;
  /** Of an answer that ends before it has begun; null: such an answer is right. */
  readonly empty: () => Error | null;
  /** Limit until it has begun. */
  readonly limitMs: number;
  /** The limit counts from here; null: from the request. */
  readonly limitAfter: Promise<null> | null;
}

export class Attempt<Part> {
  /** Why it has not begun; null: it has. Never rejects. */
  readonly begun: Promise<Error | null>;
  readonly #options: AttemptOptions<Part>;
  readonly #abort = new AbortController();
  #iterator: AsyncIterator<Part> | null = null;
  readonly #held: Part[] = [];
  #isDone = false;
  #hasBegun = false;
  #waitingSinceMs: number | null = null;

  constructor(options: AttemptOptions<Part>) {
    this.#options = options;
    const { clock, limitAfter } = options;
    const wait = () => (this.#waitingSinceMs = clock.nowMs());
    if (limitAfter === null) wait();
    else void limitAfter.then(() => (this.#hasBegun ? null : wait()));
    this.begun = this.#begin();
  }

  /** How long it has waited for the part that is missing; 0: none is. */
  get waitedMs(): number {
    return this.#waitingSinceMs === null ? 0 : this.#options.clock.nowMs() - this.#waitingSinceMs;
  }

  /**
   * Idempotent.
   * @param reason why the engine is given up, if that is its fault
   */
  drop(reason?: EngineFailure): void {
    this.#abort.abort(reason);
    // A generator that waits takes this after its next part, if one comes; what it throws then says nothing more.
    this.#iterator?.return?.().catch(() => undefined);
  }

  /**
   * All parts, once it has begun.
   * @param stallMs limit until the next part; null: none
   */
  async *parts(stallMs: () => number | null): AsyncGenerator<Part> {
    const iterator = this.#iterator;
    try {
      yield* this.#held;
      if (iterator === null) return;
      while (!this.#isDone) {
        this.#waitingSinceMs = this.#options.clock.nowMs();
        const result = await this.#within(iterator.next(), stallMs(), null);
        this.#waitingSinceMs = null;
        if (result === null) {
          const failure = new EngineFailure("it stopped within its answer", { type: "timeout" });
          this.drop(failure);
          throw failure;
        }
        if (result.done === true) return;
        yield result.value;
      }
    } finally {
      this.drop();
    }
  }

  async #begin(): Promise<Error | null> {
    const { start, begins, empty, limitMs, limitAfter } = this.#options;
    try {
      const iterator = start(this.#abort.signal)[Symbol.asyncIterator]();
      this.#iterator = iterator;
      const found = await this.#within(this.#readUntil(iterator, begins), limitMs, limitAfter);
      this.#hasBegun = true;
      this.#waitingSinceMs = null;
      if (found === null) {
        const late = new EngineFailure(`no answer began within ${String(limitMs)} ms`, { type: "timeout" });
        this.drop(late);
        return late;
      }
      const failure = found === "ended" ? empty() : null;
      if (failure !== null) this.drop();
      return failure;
    } catch (error) {
      this.drop();
      return errorOf(error);
    }
  }

  async #readUntil(
    iterator: AsyncIterator<Part>,
    begins: (part: Part) => boolean,
  ): Promise<"begun" | "ended"> {
    for (;;) {
      const result = await iterator.next();
      if (result.done === true) {
        this.#isDone = true;
        return "ended";
      }
      this.#held.push(result.value);
      if (begins(result.value)) return "begun";
    }
  }

  /** Null: the limit was reached first. */
  async #within<T>(work: Promise<T>, limitMs: number | null, after: Promise<null> | null): Promise<T | null> {
    if (limitMs === null) return work;
    const late = Promise.withResolvers<null>();
    const timer: { cancel: (() => void) | null; isOver: boolean } = { cancel: null, isOver: false };
    const count = (): void => {
      if (!timer.isOver) timer.cancel = this.#options.clock.after(limitMs, () => late.resolve(null));
    };
    if (after === null) count();
    else void after.then(count);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      timer.isOver = true;
      timer.cancel?.();
    }
  }
}
