/** Asks all workers for their metrics, and joins the answers. */

import { mergedMetrics } from "./merged-metrics.ts";

/** A worker that does not answer in this time is left out: its event loop is held up, and a scrape waits 10 s. */
const ANSWER_LIMIT_MS = 2_000;

export interface AskedWorker {
  readonly number: number;
  readonly ask: (request: number) => void;
}

export interface CollectedMetricsDeps {
  /** The workers that are ready now. */
  readonly workers: () => readonly AskedWorker[];
  /** The metrics of the primary process itself. */
  readonly own: () => Promise<string>;
  /** Numbers of workers that have not answered. */
  readonly silent: (numbers: readonly number[]) => void;
}

interface Collection {
  readonly texts: Map<number, string>;
  readonly awaited: Set<number>;
  readonly complete: () => void;
}

export class CollectedMetrics {
  readonly #deps: CollectedMetricsDeps;
  readonly #collections = new Map<number, Collection>();
  #requests = 0;
  #collecting: Promise<string> | null = null;

  constructor(deps: CollectedMetricsDeps) {
    this.#deps = deps;
  }

  /** Requests that come meanwhile get the same answer, so that scrapes at once cost no more than one. */
  collect(): Promise<string> {
    this.#collecting ??= this.#collect().finally(() => (this.#collecting = null));
    return this.#collecting;
  }

  /** @param text null: the worker could not read its metrics */
  answered(worker: number, request: number, text: string | null): void {
    const collection = this.#collections.get(request);
    if (collection === undefined || !collection.awaited.delete(worker)) return;
    if (text !== null) collection.texts.set(worker, text);
    if (collection.awaited.size === 0) collection.complete();
  }

  async #collect(): Promise<string> {
    const request = (this.#requests += 1);
    const workers = this.#deps.workers();
    const { promise: complete, resolve } = Promise.withResolvers<void>();
    const collection: Collection = {
      texts: new Map(),
      awaited: new Set(workers.map(({ number }) => number)),
      complete: resolve,
    };
    this.#collections.set(request, collection);
    const limit = setTimeout(resolve, ANSWER_LIMIT_MS);
    for (const { ask } of workers) ask(request);
    if (workers.length === 0) resolve();
    await complete;
    clearTimeout(limit);
    this.#collections.delete(request);
    const silent = workers.map(({ number }) => number).filter((number) => !collection.texts.has(number));
    if (silent.length > 0) this.#deps.silent(silent);
    const inOrder = [...collection.texts].toSorted(([a], [b]) => a - b).map(([, text]) => text);
    return mergedMetrics([await this.#deps.own(), ...inOrder]);
  }
}
