/** What accounts may store in corpora, and how sites are crawled: settings of the environment. */

import { z } from "zod";
import type { CorpusLimits } from "../../store/corpora/account-limits.ts";
import { whole } from "../env-fields.ts";

export const CORPUS_FIELDS = {
  // Pages of crawls count too. Each has some 5 chunks, so this is 50,000 of them.
  CORPUS_DOCUMENTS_PER_ACCOUNT: whole(1, 10_000_000).default(10_000),
  // A hundred documents of the largest size.
  CORPUS_BYTES_PER_ACCOUNT: whole(1, 1_000_000_000_000).default(1_073_741_824),
  // From one request of a crawl to the next one to the same host: two pages a second disturb no server.
  CRAWL_DELAY_MS: whole(0, 60_000).default(500),
};

const Fields = z.object(CORPUS_FIELDS);

export interface CorpusSettings {
  readonly corpusLimits: CorpusLimits;
  readonly crawlDelayMs: number;
}

export function corporaOf(values: z.infer<typeof Fields>): CorpusSettings {
  return {
    corpusLimits: {
      documentsPerAccount: values.CORPUS_DOCUMENTS_PER_ACCOUNT,
      bytesPerAccount: values.CORPUS_BYTES_PER_ACCOUNT,
    },
    crawlDelayMs: values.CRAWL_DELAY_MS,
  };
}
