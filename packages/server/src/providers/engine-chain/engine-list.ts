/** The order in which the engines of a list are tried, for all calls and for one of them. */

import type { Clock } from "../../pacing/clock.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { Use } from "./breaker.ts";
import { shortText, type ListedEngine, type ListedKind, type UseOutcome } from "./listed-engine.ts";

/** An engine that failed in a call is the last choice of this call for so long, whatever it does for others. */
export const AVOIDED_MS = 30_000;

export interface ListObserver {
  /** A request is over. */
  used(kind: ListedKind, engine: string, outcome: UseOutcome): void;
  /** An engine failed, and whether another one of the list takes over. */
  failed(kind: ListedKind, engine: string, error: string, next: string | null): void;
}

export interface ListOptions<Engine> {
  readonly kind: ListedKind;
  /** The first one is the choice while it works. */
  readonly engines: readonly [ListedEngine<Engine>, ...ListedEngine<Engine>[]];
  readonly clock: Clock;
  readonly observer: ListObserver;
  /** A call stays with the engine that has taken over, so that its voice does not change back and forth. */
  readonly isSticky?: boolean;
}

/** What one call has seen of the engines. */
interface Memory<Engine> {
  serving: ListedEngine<Engine>;
  readonly avoidedUntilMs: Map<ListedEngine<Engine>, number>;
}

/** The voice or the model that a request uses of an engine; empty: its own. */
export type UseOf<Engine> = (listed: ListedEngine<Engine>) => string;

interface Usable {
  readonly unusable?: () => string | null;
  /** See `LlmEngine`. */
  readonly engineOf?: (use: string) => Usable;
}

export class EngineList<Engine extends object> {
  readonly first: ListedEngine<Engine>;
  readonly engines: readonly ListedEngine<Engine>[];
  readonly #options: ListOptions<Engine>;
  readonly #memories = new WeakMap<EngineUser, Memory<Engine>>();

  constructor(options: ListOptions<Engine>) {
    this.#options = options;
    this.engines = options.engines;
    [this.first] = options.engines;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  /**
   * Those that a request tries, in their order; at least one. Engines that rest are left out, unless all of them do:
   * then the one is tried whose rest ends first.
   */
  candidates(use: UseOf<Engine>, user: EngineUser | undefined): readonly ListedEngine<Engine>[] {
    const memory = user === undefined ? null : this.#memoryOf(user);
    const nowMs = this.clock.nowMs();
    const awake = this.engines.filter(
      (listed) =>
        listed.breaker(use(listed)).state !== "open" && isUsable(listed.engine as Usable, use(listed)),
    );
    const isAvoided = (listed: ListedEngine<Engine>) =>
      (memory?.avoidedUntilMs.get(listed) ?? Number.NEGATIVE_INFINITY) > nowMs;
    const chosen = awake.filter((listed) => !isAvoided(listed));
    if (this.#options.isSticky === true && memory !== null && chosen.includes(memory.serving)) {
      chosen.splice(chosen.indexOf(memory.serving), 1);
      chosen.unshift(memory.serving);
    }
    const all = [...chosen, ...awake.filter(isAvoided)];
    if (all.length > 0) return all;
    const restOf = (listed: ListedEngine<Engine>) => listed.breaker(use(listed)).restUntilMs;
    return this.engines.toSorted((a, b) => restOf(a) - restOf(b)).slice(0, 1);
  }

  /** Why the list serves nothing now: the reason of its first engine, where no other one can be used. Null: it does. */
  unusable(): string | null {
    const reasons = this.engines.map(({ engine }) => (engine as Usable).unusable?.() ?? null);
    return reasons.includes(null) ? null : (reasons[0] ?? null);
  }

  /** A request to the engine begins. `isServing` false: only beside another one. */
  begin(
    listed: ListedEngine<Engine>,
    use: UseOf<Engine>,
    user: EngineUser | undefined,
    isServing = true,
  ): Use {
    if (user !== undefined && isServing) this.#step(user, listed, use);
    const { kind, observer } = this.#options;
    const request = listed.breaker(use(listed)).begin();
    let isSettled = false;
    const settle = (outcome: UseOutcome, act: () => void): void => {
      if (isSettled) return;
      isSettled = true;
      act();
      observer.used(kind, listed.name, outcome);
    };
    return {
      succeeded: () => settle("answered", () => request.succeeded()),
      failed: (error) => settle("failed", () => request.failed(error)),
      dropped: () => settle("overtaken", () => request.dropped()),
    };
  }

  /** The engine failed in a request of this call. */
  failed(
    listed: ListedEngine<Engine>,
    error: Error,
    user: EngineUser | undefined,
    next: ListedEngine<Engine> | null,
  ): void {
    const { kind, observer } = this.#options;
    observer.failed(kind, listed.name, shortText(error), next?.name ?? null);
    if (user === undefined) return;
    this.#memoryOf(user).avoidedUntilMs.set(listed, this.clock.nowMs() + AVOIDED_MS);
  }

  /** The failure of a request that no engine of the list has served. */
  exhausted(last: Error, tried: readonly Error[], use: UseOf<Engine>): EngineFailure {
    const resting = this.engines.flatMap((listed) => {
      const { state, lastError } = listed.breaker(use(listed));
      return state === "closed" || lastError === null ? [] : [lastError];
    });
    const isPermanent = [...tried, ...resting].every(
      (error) => error instanceof EngineFailure && error.isPermanent,
    );
    return new EngineFailure(`${shortText(last)} (no other engine is left)`, {
      isPermanent: isPermanent && tried.length > 0,
      type: last instanceof EngineFailure ? last.type : null,
      isExhausted: true,
    });
  }

  #step(user: EngineUser, to: ListedEngine<Engine>, use: UseOf<Engine>): void {
    const memory = this.#memoryOf(user);
    const from = memory.serving;
    if (from === to) return;
    memory.serving = to;
    const isBack = this.engines.indexOf(to) < this.engines.indexOf(from);
    const { lastError } = from.breaker(use(from));
    const unusable = (from.engine as Usable).unusable?.() ?? null;
    const error = lastError === null ? unusable : shortText(lastError);
    user.stepped({ from: from.name, to: to.name, error: error ?? (isBack ? null : "it failed before") });
  }

  #memoryOf(user: EngineUser): Memory<Engine> {
    const known = this.#memories.get(user);
    if (known !== undefined) return known;
    const memory = { serving: this.first, avoidedUntilMs: new Map<ListedEngine<Engine>, number>() };
    this.#memories.set(user, memory);
    return memory;
  }
}

/** A model that is gone says nothing about the others of the same engine. */
function isUsable(engine: Usable, use: string): boolean {
  return ((engine.engineOf?.(use) ?? engine).unusable?.() ?? null) === null;
}
