/**
 * Counts what engines are asked for. Each engine is wrapped by itself, inside of lists and routers, so that requests
 * which a list repeats at another engine, or which a call drops, are counted where they were sent.
 */

import type { Clock } from "../../pacing/clock.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import {
  NO_AMOUNTS,
  type EngineUse,
  type PricedUse,
  type UsedAmounts,
  type UsedEngine,
  type UseListener,
  type UseOutcome,
} from "../../ports/engine-use.ts";

/** The cost of a use in 1e-9 units of the currency; null: it has no price, or its tokens were not counted. */
export type CostOf = (use: EngineUse) => number | null;

/** Of the names of engines and models, which users may choose for external voices: they are keys of stored sums. */
const MAX_NAME_CHARS = 100;

export interface MeterParts {
  readonly clock: Pick<Clock, "nowMs">;
  readonly costOf: CostOf;
  /** Notified of all requests, those of no call included. */
  readonly used: (use: PricedUse) => void;
}

/** What is known of a request only when it is over. */
export interface UseEnd {
  readonly outcome: UseOutcome;
  readonly latencyMs: number | null;
  readonly amounts: Partial<UsedAmounts>;
  readonly isUncounted?: boolean;
  readonly requests?: 0 | 1;
}

/** Counts the requests of one engine. */
export class UseMeter {
  readonly #engine: UsedEngine;
  readonly #parts: MeterParts;

  constructor(engine: UsedEngine, parts: MeterParts) {
    this.#engine = {
      ...engine,
      engine: engine.engine.slice(0, MAX_NAME_CHARS),
      provider: engine.provider.slice(0, MAX_NAME_CHARS),
      model: engine.model?.slice(0, MAX_NAME_CHARS) ?? null,
    };
    this.#parts = parts;
  }

  nowMs(): number {
    return this.#parts.clock.nowMs();
  }

  /** @param model of this request, where it is not that of the engine */
  report(end: UseEnd, listener: UseListener | undefined, model: string | null = this.#engine.model): void {
    const { amounts, isUncounted = false, requests = 1, outcome, latencyMs } = end;
    const rounded = latencyMs === null ? null : Math.max(0, Math.round(latencyMs));
    const use: EngineUse = {
      ...this.#engine,
      ...NO_AMOUNTS,
      ...amounts,
      model: model?.slice(0, MAX_NAME_CHARS) ?? null,
      requests,
      outcome,
      latencyMs: rounded,
      isUncounted,
    };
    const priced: PricedUse = { ...use, costNanos: this.#parts.costOf(use) };
    this.#parts.used(priced);
    listener?.used(priced);
  }
}

export interface StreamUse<Part> {
  readonly meter: UseMeter;
  readonly listener: UseListener | undefined;
  readonly model?: string | null;
  readonly signal: AbortSignal;
  /** Starts the request. */
  readonly start: () => AsyncIterable<Part>;
  /** Notes a part; `first`: the answer begins with it, `last`: nothing is missing after it. */
  readonly take: (part: Part) => "first" | "last" | null;
  /** Of the request so far. `hasBegun`: a part of the answer has come. */
  readonly amounts: (outcome: UseOutcome, hasBegun: boolean) => Pick<UseEnd, "amounts" | "isUncounted">;
}

/** A request to an engine that answers in parts. A request that was aborted before it began is none. */
export async function* meteredStream<Part>(use: StreamUse<Part>): AsyncGenerator<Part> {
  const { meter, listener, model, signal, start, take, amounts } = use;
  if (signal.aborted) {
    yield* start();
    return;
  }
  const startMs = meter.nowMs();
  let latencyMs: number | null = null;
  let isOver = false;
  listener?.begun();
  const end = (outcome: UseOutcome): void => {
    if (isOver) return;
    isOver = true;
    meter.report({ outcome, latencyMs, ...amounts(outcome, latencyMs !== null) }, listener, model);
  };
  // At once, so that the end of a call has all of its requests. A list gives the failure as the reason of its abort.
  const abort = (): void => end(signal.reason instanceof EngineFailure ? "failed" : "dropped");
  signal.addEventListener("abort", abort, { once: true });
  try {
    for await (const part of start()) {
      const step = isOver ? null : take(part);
      if (step !== null && latencyMs === null) latencyMs = meter.nowMs() - startMs;
      if (step === "last") end("answered");
      yield part;
    }
    end("answered");
  } catch (error) {
    end("failed");
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
    // Its reader has left.
    end("dropped");
  }
}
