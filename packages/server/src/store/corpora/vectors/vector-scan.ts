/**
 * Finds near vectors without pgvector: all vectors of a corpus are held in the memory of a thread and compared one by
 * one. What is held is bounded; the corpora that were searched last stay.
 */

import { sql } from "kysely";
import { throwIfAborted } from "../../../pacing/abort.ts";
import { openSemaphore } from "../../../pacing/semaphore.ts";
import type { Db } from "../../database/db.ts";
import { nearStoredDocument } from "../chunks-to-remove.ts";
import type { NearChunks, NearSearch } from "./near-vectors.ts";
import { openScanThread, type ScanThread } from "./scan-thread.ts";
import { vectorTable, type VectorModel } from "./vector-models.ts";

/** About 340,000 vectors of 384 dimensions, or 85,000 of 1,536, over all corpora. */
export const SCAN_MEMORY_BYTES = 512 * 1024 * 1024;
/** How old what is held may be. A query within this time finds chunks that were indexed before it. */
const FRESH_MS = 5_000;
/** Vectors of one statement while they are loaded: 2,000 of 384 dimensions. More would hold up the main thread. */
const LOADED_BYTES = 3_072_000;

/** Corpora that are loaded at a time: other statements need connections as well. */
const LOADED_AT_ONCE = 2;
/** Corpora that are held, those without vectors as well. */
const MAX_HELD = 1_000;
/** Other corpora displace one at most so often before a search is refused. */
const LOAD_ATTEMPTS = 3;

interface Held {
  bytes: number;
  /** All of its vectors are in the thread. */
  isLoaded: boolean;
  /** Tells whether vectors were added or deleted. */
  state: string;
  checkedAtMs: number;
  usedAtMs: number;
}

export class CorpusTooLargeError extends Error {
  override readonly name = "CorpusTooLargeError";

  constructor(count: number) {
    super(`the corpus has ${count} vectors, more than can be compared without pgvector`);
  }
}

export class VectorScan {
  readonly #db: Db;
  readonly #held = new Map<string, Held>();
  readonly #loading = new Map<string, Promise<void>>();
  // What waits is bounded by the searches.
  readonly #loads = openSemaphore(LOADED_AT_ONCE);
  readonly #thread: ScanThread;
  readonly #nowMs: () => number;
  readonly #limits: { readonly memoryBytes: number; readonly corpora: number };

  /** `limits` are for tests. */
  constructor(
    db: Db,
    log: (message: string) => void,
    nowMs: () => number,
    { memoryBytes = SCAN_MEMORY_BYTES, corpora = MAX_HELD } = {},
  ) {
    this.#db = db;
    this.#limits = { memoryBytes, corpora };
    this.#nowMs = nowMs;
    this.#thread = openScanThread((reason) => {
      this.#held.clear();
      log(`the thread that compares vectors has ended: ${reason}`);
    });
  }

  /** @throws CorpusTooLargeError; an `AbortError` when `signal` aborts */
  async near(model: VectorModel, search: NearSearch, signal: AbortSignal): Promise<NearChunks> {
    const { corpusId, vector, limit } = search;
    const key = `${model.id} ${corpusId}`;
    for (let attempt = 1; attempt <= LOAD_ATTEMPTS; attempt += 1) {
      await this.#loaded(key, model, corpusId);
      throwIfAborted(signal);
      // Another corpus may have taken the room since. From here to the thread nothing can come between.
      const held = this.#held.get(key);
      if (held?.bytes === 0) return { near: [], background: { mean: 0, deviation: 0, count: 0 } };
      if (held?.isLoaded === true) return this.#thread.search(key, vector, limit, signal);
    }
    throw new Error("other corpora need the memory for comparisons at the same time");
  }

  /** Loads of one corpus follow each other. */
  async #loaded(key: string, model: VectorModel, corpusId: string): Promise<void> {
    const loading = (this.#loading.get(key) ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#refresh(key, model, corpusId));
    this.#loading.set(key, loading);
    try {
      await loading;
    } finally {
      if (this.#loading.get(key) === loading) this.#loading.delete(key);
    }
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #refresh(key: string, model: VectorModel, corpusId: string): Promise<void> {
    const held = this.#held.get(key);
    const nowMs = this.#nowMs();
    if (held !== undefined) held.usedAtMs = nowMs;
    if (held !== undefined && nowMs - held.checkedAtMs < FRESH_MS) return;
    const read = await sql<{ count: number; state: string }>`
      select count(*) as count, concat(count(*), ' ', sum(hashint8extended(chunk_id, 0)::numeric)) as state
      from ${vectorTable(model)} as near where corpus_id = ${corpusId} and ${nearStoredDocument}`.execute(
      this.#db.query,
    );
    const { count = 0, state = "" } = read.rows[0] ?? {};
    if (held?.state === state) {
      held.checkedAtMs = nowMs;
      return;
    }
    this.#drop(key);
    const bytes = count * (model.dimensions * 4 + 8);
    if (bytes > this.#limits.memoryBytes) throw new CorpusTooLargeError(count);
    this.#makeRoom(bytes);
    const loaded: Held = { bytes, isLoaded: false, state, checkedAtMs: nowMs, usedAtMs: nowMs };
    this.#held.set(key, loaded);
    try {
      loaded.isLoaded = await this.#loads(() => this.#load(key, model, corpusId, loaded));
    } catch (error) {
      this.#drop(key);
      throw error;
    }
  }

  #makeRoom(bytes: number): void {
    const sum = () => [...this.#held.values()].reduce((total, held) => total + held.bytes, 0);
    const { memoryBytes, corpora } = this.#limits;
    while (this.#held.size > 0 && (this.#held.size >= corpora || sum() + bytes > memoryBytes)) {
      const [oldest] = [...this.#held].toSorted(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
      if (oldest === undefined) return;
      this.#drop(oldest[0]);
    }
  }

  #drop(key: string): void {
    if (this.#held.delete(key)) this.#thread.send({ type: "drop", key });
  }

  /** False: another corpus took the room, or the thread ended. A part of the vectors would stay there uncounted. */
  async #load(key: string, model: VectorModel, corpusId: string, loaded: Held): Promise<boolean> {
    const { dimensions } = model;
    const limit = Math.max(1, Math.floor(LOADED_BYTES / (dimensions * 4)));
    for (let afterId = 0; ;) {
      const read = await sql<{ chunkId: number; embedding: Buffer }>`
        select chunk_id as "chunkId", embedding from ${vectorTable(model)} as near
        where corpus_id = ${corpusId} and chunk_id > ${afterId} and ${nearStoredDocument}
        order by chunk_id limit ${limit}`.execute(this.#db.query);
      const { rows } = read;
      if (this.#held.get(key) !== loaded) return false;
      if (rows.length === 0) return true;
      const chunkIds = Float64Array.from(rows, ({ chunkId }) => chunkId);
      const numbers = new Float32Array(rows.length * dimensions);
      for (const [place, { embedding }] of rows.entries()) {
        if (embedding.length !== dimensions * 4) throw new Error("a stored vector has another size");
        const view = new DataView(embedding.buffer, embedding.byteOffset, embedding.length);
        for (let part = 0; part < dimensions; part += 1)
          numbers[place * dimensions + part] = view.getFloat32(part * 4, true);
      }
      this.#thread.send({ type: "load", key, dimensions, chunkIds, numbers });
      afterId = rows.at(-1)?.chunkId ?? afterId;
      if (rows.length < limit) return true;
    }
  }
}
