/** What loads of sources use. */

import type { CorpusFiles } from "../../ports/corpora/corpus-files.ts";
import type { DocumentReader } from "../../ports/corpora/document-reader.ts";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { CorpusLimits } from "../../store/corpora/account-limits.ts";
import type { CorpusOfAccount } from "../../store/corpora/indexing.ts";
import type { Db } from "../../store/database/db.ts";

export interface LoadDeps {
  readonly db: Db;
  readonly nodeId: string;
  readonly files: Pick<CorpusFiles, "read">;
  readonly reader: Pick<DocumentReader, "read" | "mimeTypes">;
  readonly client: Pick<GuardedClient, "request">;
  readonly limits: CorpusLimits;
  /** From one request to the next one to the same host. */
  readonly crawlDelayMs: number;
  /** Within a transaction that changed so many chunks; the function that it returns is called after the commit. */
  readonly chunksChanged: (tx: Db, corpus: CorpusOfAccount, chunks: number) => Promise<() => void>;
  readonly log: { readonly info: (fields: object, message: string) => void };
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
}

/** `more`: a portion is done. `elsewhere`: the rest is for another node, so this one tries again later. */
export type Progress = "done" | "more" | "elsewhere";

/** A document whose attempts were cut off so often ends the process each time. */
export const MAX_ATTEMPTS = 5;

export const CUT_OFF = {
  code: "reader_ended",
  message: "The service has stopped each time while it was reading the document.",
} as const;
