/**
 * Which vectors of a corpus a question is compared with. After a change of the model those of the earlier one serve
 * until the corpus has all of the new ones, as far as the same server still answers for it.
 */

import type { Embedder } from "../ports/corpora/embedder.ts";
import { isIndexedWith } from "../store/corpora/indexing.ts";
import type { Db } from "../store/database/db.ts";
import {
  ensureVectorModel,
  listVectorModels,
  storageFor,
  type VectorModel,
  type VectorSupport,
} from "../store/corpora/vectors/vector-models.ts";

/** How long an answer about a corpus is used again. */
const FRESH_MS = 5_000;
/** Corpora that are remembered; bounds memory. */
const MAX_REMEMBERED = 1_000;

export interface CurrentVectors {
  /** Null: the corpus has no vectors that the embedder can be asked about. */
  readonly modelFor: (corpusId: string) => Promise<VectorModel | null>;
  /**
   * The server gives vectors of another size under the same name: a table for them is made, after which every corpus lacks
   * its vectors, and jobs make them.
   */
  readonly dimensionsChanged: (dimensions: number) => Promise<void>;
}

/** Between two such changes. A name that stands for two models would otherwise begin anew with each search. */
const CHANGE_INTERVAL_MS = 600_000;

export function openCurrentVectors(
  db: Db,
  embedder: Pick<Embedder, "model" | "basis"> | null,
  nowMs: () => number,
  support: VectorSupport,
): CurrentVectors {
  let changedAtMs = -Infinity;
  const known = new Map<string, { readonly atMs: number; readonly model: VectorModel | null }>();
  return {
    modelFor: async (corpusId) => {
      const remembered = known.get(corpusId);
      if (remembered !== undefined && nowMs() - remembered.atMs < FRESH_MS) return remembered.model;
      const model = embedder === null ? null : await choose(db, embedder, corpusId);
      known.delete(corpusId);
      known.set(corpusId, { atMs: nowMs(), model });
      const oldest = known.keys().next();
      if (known.size > MAX_REMEMBERED && oldest.done !== true) known.delete(oldest.value);
      return model;
    },
    dimensionsChanged: async (dimensions) => {
      if (embedder === null || nowMs() - changedAtMs < CHANGE_INTERVAL_MS) return;
      changedAtMs = nowMs();
      await ensureVectorModel(db, embedder, dimensions, storageFor(support, dimensions));
      known.clear();
    },
  };
}

async function choose(
  db: Db,
  { model, basis }: Pick<Embedder, "model" | "basis">,
  corpusId: string,
): Promise<VectorModel | null> {
  const models = (await listVectorModels(db)).filter((one) => one.basis === basis);
  const current = models.find((one) => one.model === model) ?? null;
  // One of the same name has other dimensions, which the server no longer gives.
  const earlier = models.find((one) => one.model !== model) ?? null;
  if (earlier === null) return current;
  if (current !== null && (await isIndexedWith(db, corpusId, current.id))) return current;
  return earlier;
}
