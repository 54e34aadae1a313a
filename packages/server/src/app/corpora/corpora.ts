/** Corpora: where files are, who reads documents, and the work behind requests. */

import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { CorpusActions } from "../../http/deps.ts";
import { queueMissingVectors } from "../../jobs/corpora/embed-chunks.ts";
import { chunksChanged, indexCorpusJob } from "../../jobs/corpora/index-corpus.ts";
import {
  loadSourceJob,
  queueLoad,
  queueStalledLoads,
  type LoadSourceDeps,
} from "../../jobs/corpora/load-source.ts";
import type { Jobs } from "../../jobs/jobs.ts";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { Embedder } from "../../ports/corpora/embedder.ts";
import type { CorpusFiles } from "../../ports/corpora/corpus-files.ts";
import { openLocalCorpusFiles } from "../../providers/corpus-files/local-corpus-files.ts";
import { openDocumentReader } from "../../providers/readers/document-reader.ts";
import type { Store } from "../../store/opening/open-store.ts";
import { openCorpusUpkeep, type CorpusUpkeep } from "../../upkeep/corpora.ts";

export interface OpenedCorpora {
  readonly actions: CorpusActions;
  readonly loads: Omit<LoadSourceDeps, "db" | "jobs" | "log" | "nowMs">;
  readonly upkeep: CorpusUpkeep;
}

export interface CorporaParts {
  readonly config: Pick<Config, "dataDir" | "recordingsBucket" | "corpusLimits" | "crawlDelayMs">;
  readonly store: Pick<Store, "db">;
  readonly jobs: Jobs;
  readonly client: GuardedClient;
  readonly nodeId: string;
  /** Null: chunks get no vectors. */
  readonly embedder: Embedder | null;
  readonly logger: Logger;
}

export async function openCorpora(
  opened: AsyncDisposableStack,
  { config, store, jobs, client, nodeId, embedder, logger }: CorporaParts,
): Promise<OpenedCorpora> {
  const { db } = store;
  const files = await openFiles(config);
  const reader = openDocumentReader();
  // Loads end at once, and their rest is left to the next start.
  const stopping = new AbortController();
  opened.defer(() => reader.close());
  opened.defer(() => stopping.abort(new Error("the service is stopping")));
  const upkeep = openCorpusUpkeep({
    db,
    nodeId,
    files,
    queueStalledLoads: () => queueStalledLoads(db, jobs),
    queueMissingVectors: () => queueMissingVectors({ db, jobs, embedder }),
    logger,
  });
  opened.defer(() => upkeep.close());
  return {
    actions: {
      limits: config.corpusLimits,
      filePlace: files.isShared ? null : { nodeId },
      files,
      queueLoad: (tx, source) => queueLoad(tx, jobs, source),
      wakeLoads: () => jobs.wake(loadSourceJob),
    },
    loads: {
      nodeId,
      files,
      reader,
      client,
      limits: config.corpusLimits,
      crawlDelayMs: config.crawlDelayMs,
      stopping: stopping.signal,
      chunksChanged: async (tx, corpus, chunks) => {
        const isQueued = await chunksChanged(tx, jobs, corpus, { chunks });
        return () => {
          if (isQueued) jobs.wake(indexCorpusJob);
        };
      },
    },
    upkeep,
  };
}

/** Recordings and documents share the bucket. Its library is loaded only where one is set. */
async function openFiles({
  dataDir,
  recordingsBucket: bucket,
}: Pick<Config, "dataDir" | "recordingsBucket">): Promise<CorpusFiles> {
  const local = await openLocalCorpusFiles(join(dataDir, "corpora"));
  if (bucket === null) return local;
  const { openS3CorpusFiles } = await import("../../providers/corpus-files/s3-corpus-files.ts");
  return openS3CorpusFiles(local, bucket);
}
