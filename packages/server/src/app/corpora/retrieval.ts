/** Opens what corpora are searched with: the models, the vectors and the search. */

import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { RetrievalSettings } from "../../config/corpora/retrieval.ts";
import { openCurrentVectors } from "../../corpora/current-vectors.ts";
import { queryCorpusTool } from "../../corpora/query-tool.ts";
import { openCorpusSearch } from "../../corpora/search-corpus.ts";
import type { SearchCorpus } from "../../corpora/search-types.ts";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { Embedder } from "../../ports/corpora/embedder.ts";
import type { Reranker } from "../../ports/corpora/reranker.ts";
import type { ToolInvoker } from "../../ports/tool-invoker.ts";
import { openHttpReranker } from "../../providers/embeddings/http-reranker.ts";
import { openOpenAiEmbedder } from "../../providers/embeddings/openai-embedder.ts";
import { openVectorStore, type VectorStore } from "../../store/corpora/vectors/vector-store.ts";
import type { Db } from "../../store/database/db.ts";
import type { Store } from "../../store/opening/open-store.ts";
import { openToolInvoker, type DeploymentTools } from "../tool-invokers.ts";

export interface Retrieval {
  readonly search: SearchCorpus;
  /** Null: corpora are searched by full text alone. */
  readonly embedder: Embedder | null;
  readonly vectors: VectorStore;
}

export async function openRetrieval(
  db: Db,
  { embeddings, reranker: rerankServer, queriesPerMinute }: RetrievalSettings,
  logger: Logger,
): Promise<Retrieval> {
  const embedder = embeddings === null ? null : openOpenAiEmbedder(embeddings);
  const reranker: Reranker | null = rerankServer === null ? null : openHttpReranker(rerankServer);
  const vectors = await openVectorStore(db, (message) => logger.warn(message));
  logger.info(retrievalLine({ embeddings, reranker: rerankServer }, vectors));
  const nowMs = (): number => performance.now();
  const search = openCorpusSearch({
    db,
    vectors,
    embedder,
    reranker,
    ...openCurrentVectors(db, embedder, nowMs, vectors.support),
    queriesPerMinute,
    log: logger,
    nowMs,
  });
  return { search, embedder, vectors };
}

export interface ToolParts {
  readonly config: Pick<Config, "retrieval" | "apiNames">;
  readonly client: GuardedClient;
  readonly store: Pick<Store, "db">;
  readonly logger: Logger;
}

/** The tools of calls, of which one searches. `transfer`: those that transfer calls. */
export async function openTools(
  opened: AsyncDisposableStack,
  { config, client, store, logger }: ToolParts,
  transfer: ToolInvoker["invoke"],
): Promise<{ readonly toolInvoker: DeploymentTools; readonly retrieval: Retrieval }> {
  const retrieval = await openRetrieval(store.db, config.retrieval, logger);
  opened.defer(() => retrieval.vectors.close());
  const queryCorpus = queryCorpusTool(retrieval.search);
  const toolInvoker = openToolInvoker(client, config.apiNames, { transfer, queryCorpus });
  opened.defer(() => toolInvoker.close());
  return { toolInvoker, retrieval };
}

/** How corpora are searched, in one line for the operator. */
export function retrievalLine(
  { embeddings, reranker }: Pick<RetrievalSettings, "embeddings" | "reranker">,
  { support }: Pick<VectorStore, "support">,
): string {
  if (embeddings === null)
    return "corpora: full text alone; set EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL to search by meaning as well";
  const vectors =
    support.kind === "pgvector"
      ? `with the index of pgvector ${support.version}`
      : `by comparing all vectors of a corpus, because ${support.reason}`;
  const ranked = reranker === null ? "" : `; ranked again by ${reranker.model} at ${reranker.baseUrl}`;
  return `corpora: full text, and vectors of ${embeddings.model} at ${embeddings.baseUrl} ${vectors}${ranked}`;
}
