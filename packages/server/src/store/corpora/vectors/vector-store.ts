/** Searches for near vectors, in the way that the database allows. */

import type { Db } from "../../database/db.ts";
import { nearWithIndex, type NearChunks, type NearSearch } from "./near-vectors.ts";
import { openVectorSupport, type VectorModel, type VectorSupport } from "./vector-models.ts";
import { VectorScan } from "./vector-scan.ts";

export interface VectorStore {
  readonly support: VectorSupport;
  /** @throws when the vectors cannot be compared; an `AbortError` when `signal` aborts */
  near(model: VectorModel, search: NearSearch, signal: AbortSignal): Promise<NearChunks>;
  close(): Promise<void>;
}

export interface VectorStoreOptions {
  /** Unset: what the database has. */
  readonly support?: VectorSupport;
  readonly nowMs?: () => number;
}

/** The options are for tests. */
export async function openVectorStore(
  db: Db,
  log: (message: string) => void,
  { support, nowMs = () => performance.now() }: VectorStoreOptions = {},
): Promise<VectorStore> {
  const used = support ?? (await openVectorSupport(db));
  const scan = new VectorScan(db, log, nowMs);
  return {
    support: used,
    near: (model, search, signal) =>
      model.storage === "bytes" ? scan.near(model, search, signal) : nearWithIndex(db, model, search),
    close: () => scan.close(),
  };
}
