/** Sums of the requests of a call, or of one of its turns, by engine. */

import type { CallEngineSums } from "@parley/schema";
import type { PricedUse } from "../../ports/engine-use.ts";

/** A call has a few; only one with many stages that name their own models of voices has more. The rest is one entry. */
const MAX_ENGINES = 32;
const OTHERS = "other engines";
/** Latencies of which the median is taken: the first ones of a call of many hours. */
const MAX_LATENCIES = 1_024;

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface Entry {
  readonly sums: Mutable<CallEngineSums>;
  readonly latenciesMs: number[];
}

export class UseSums {
  readonly #entries = new Map<string, Entry>();

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  add(use: PricedUse): void {
    const { sums, latenciesMs } = this.#entryOf(use);
    const { outcome, latencyMs, costNanos } = use;
    sums.requests += use.requests;
    if (use.requests === 1 && outcome === "failed") sums.failures += 1;
    if (use.requests === 1 && outcome === "dropped") sums.dropped += 1;
    if (latencyMs !== null) {
      sums.latencies += 1;
      sums.latencySumMs += latencyMs;
      sums.latencyMaxMs = Math.max(sums.latencyMaxMs, latencyMs);
      if (latenciesMs.length < MAX_LATENCIES) latenciesMs.push(latencyMs);
    }
    sums.inputTokens += use.inputTokens;
    sums.cachedInputTokens += use.cachedInputTokens;
    sums.outputTokens += use.outputTokens;
    if (use.isUncounted) sums.uncounted += 1;
    sums.heardMs += use.heardMs;
    sums.characters += use.characters;
    sums.spokenMs += use.spokenMs;
    if (costNanos === null) sums.unpriced += 1;
    else sums.costNanos += costNanos;
  }

  /** What another process has counted; its latencies count for the sums, and not for the medians. */
  resume(before: readonly CallEngineSums[]): void {
    for (const sums of before) {
      const { kind, engine, provider, model } = sums;
      const key = JSON.stringify([kind, engine, provider, model]);
      this.#entries.set(engine === OTHERS ? `${OTHERS} ${kind}` : key, {
        sums: { ...sums },
        latenciesMs: [],
      });
    }
  }

  /** Without medians, which take a while. */
  totals(): readonly CallEngineSums[] {
    return [...this.#entries.values()].map(({ sums }) => ({ ...sums }));
  }

  /** In the order of their first requests. */
  read(): readonly CallEngineSums[] {
    return [...this.#entries.values()].map(({ sums, latenciesMs }) => ({
      ...sums,
      latencyMedianMs: median(latenciesMs),
    }));
  }

  #entryOf({ kind, engine, provider, model }: PricedUse): Entry {
    const key = JSON.stringify([kind, engine, provider, model]);
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const isFull = this.#entries.size >= MAX_ENGINES;
    const others = isFull ? this.#entries.get(`${OTHERS} ${kind}`) : undefined;
    if (others !== undefined) return others;
    const named = isFull ? { engine: OTHERS, provider: OTHERS, model: null } : { engine, provider, model };
    const entry: Entry = { sums: { kind, ...named, ...NOTHING }, latenciesMs: [] };
    this.#entries.set(isFull ? `${OTHERS} ${kind}` : key, entry);
    return entry;
  }
}

const NOTHING = {
  requests: 0,
  failures: 0,
  dropped: 0,
  latencies: 0,
  latencySumMs: 0,
  latencyMaxMs: 0,
  latencyMedianMs: null,
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  uncounted: 0,
  heardMs: 0,
  characters: 0,
  spokenMs: 0,
  costNanos: 0,
  unpriced: 0,
};

/** The lower one of the two in the middle. */
function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? null;
}
