/** Models that searches in corpora use, and how many searches an account may ask for: settings of the environment. */

import { z } from "zod";
import { httpUrl, whole } from "../env-fields.ts";

const key = z
  .string()
  .max(4096, "must have at most 4096 characters")
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");
const name = z.string().trim().min(1).max(200, "must have at most 200 characters");
const prefix = z.string().max(500, "must have at most 500 characters");

export const RETRIEVAL_FIELDS = {
  EMBEDDINGS_BASE_URL: httpUrl.optional(),
  EMBEDDINGS_MODEL: name.optional(),
  EMBEDDINGS_API_KEY: key.optional(),
  EMBEDDINGS_DOCUMENT_PREFIX: prefix.optional(),
  EMBEDDINGS_QUERY_PREFIX: prefix.optional(),
  RERANK_BASE_URL: httpUrl.optional(),
  RERANK_MODEL: name.optional(),
  RERANK_API_KEY: key.optional(),
  // A caller asks a few questions a minute: this is a hundred calls at a time.
  CORPUS_QUERIES_PER_MINUTE: whole(0, 1_000_000).default(600),
};

const Fields = z.object(RETRIEVAL_FIELDS);
type RetrievalFields = z.infer<typeof Fields>;

export interface RetrievalServer {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

export interface RetrievalSettings {
  /** Null: corpora are searched by full text alone. */
  readonly embeddings:
    (RetrievalServer & { readonly documentPrefix: string; readonly queryPrefix: string }) | null;
  readonly reranker: RetrievalServer | null;
  /** Of each account; 0: no limit. */
  readonly queriesPerMinute: number;
}

/** For `superRefine`: a model needs its server, and a server its model. */
export function checkRetrievalFields(values: RetrievalFields, context: z.RefinementCtx): void {
  for (const server of ["EMBEDDINGS", "RERANK"] as const) {
    const url = `${server}_BASE_URL` as const;
    const model = `${server}_MODEL` as const;
    const others = Object.keys(RETRIEVAL_FIELDS).filter((field) => field.startsWith(`${server}_`));
    const given = others.find((field) => values[field as keyof RetrievalFields] !== undefined);
    if (given === undefined) continue;
    for (const needed of [url, model]) {
      if (values[needed] !== undefined) continue;
      context.addIssue({ code: "custom", path: [needed], message: `is required together with ${given}` });
    }
  }
}

export function retrievalOf(values: RetrievalFields): RetrievalSettings {
  const {
    EMBEDDINGS_BASE_URL: embeddingsUrl,
    EMBEDDINGS_MODEL: embeddingsModel,
    RERANK_BASE_URL: rerankUrl,
    RERANK_MODEL: rerankModel,
  } = values;
  return {
    embeddings:
      embeddingsUrl === undefined || embeddingsModel === undefined
        ? null
        : {
            baseUrl: embeddingsUrl,
            model: embeddingsModel,
            apiKey: values.EMBEDDINGS_API_KEY ?? null,
            documentPrefix: values.EMBEDDINGS_DOCUMENT_PREFIX ?? "",
            queryPrefix: values.EMBEDDINGS_QUERY_PREFIX ?? "",
          },
    reranker:
      rerankUrl === undefined || rerankModel === undefined
        ? null
        : { baseUrl: rerankUrl, model: rerankModel, apiKey: values.RERANK_API_KEY ?? null },
    queriesPerMinute: values.CORPUS_QUERIES_PER_MINUTE,
  };
}
