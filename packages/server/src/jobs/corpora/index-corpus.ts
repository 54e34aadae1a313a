/** The job that follows a change of chunks: it brings the index of a corpus up to date. */

import type { CorpusOfAccount } from "../../store/corpora/indexing.ts";
import { noteIndexQueued } from "../../store/corpora/indexing.ts";
import type { Db } from "../../store/database/db.ts";
import type { JobDefinition, SendOptions } from "../definitions/job.ts";
import type { Jobs } from "../jobs.ts";

export const indexCorpusJob: JobDefinition<CorpusOfAccount> = {
  name: "index-corpus",
  read: readCorpusToIndex,
  // One account indexes one corpus at a time, so that another one does not wait for a large corpus.
  atOnce: 2,
  ofAccount: { atOnce: 1, idOf: ({ accountId }) => accountId },
  limitSeconds: 300,
  retries: { limit: 10, delaySeconds: 5, maxDelaySeconds: 300 },
};

export interface Change extends SendOptions {
  /** How many came or went. Absent: none, the corpus only has to be indexed. */
  readonly chunks?: number;
}

/**
 * Queues the job within the transaction that changed the chunks, unless one waits already. Wake the queue after it.
 * @returns whether it was queued
 */
export async function chunksChanged(
  tx: Db,
  jobs: Pick<Jobs, "send">,
  { accountId, corpusId }: CorpusOfAccount,
  { chunks = 0, ...options }: Change = {},
): Promise<boolean> {
  if (!(await noteIndexQueued(tx, corpusId, chunks))) return false;
  await jobs.send(tx, indexCorpusJob, { accountId, corpusId }, options);
  return true;
}

/** @throws when the data names no corpus */
function readCorpusToIndex(data: unknown): CorpusOfAccount {
  if (typeof data === "object" && data !== null && "accountId" in data && "corpusId" in data) {
    const { accountId, corpusId } = data;
    if (typeof accountId === "string" && typeof corpusId === "string") return { accountId, corpusId };
  }
  throw new Error("The job names no corpus.");
}
