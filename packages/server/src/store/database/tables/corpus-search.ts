/** Tables of searches in corpora. The vectors of each model have a table of their own, which the service creates. */

import type { Generated } from "kysely";
import type { ColumnsOf, Defaulted, Timestamp } from "./columns.ts";

export interface CorpusVectorModelsTable {
  id: Generated<number>;
  /** As its server names it. */
  model: string;
  /** What else the vectors depend on. */
  basis: string;
  dimensions: number;
  storage: "vector" | "halfvec" | "bytes";
  created_at: Timestamp;
}

export const corpusVectorModels: ColumnsOf<CorpusVectorModelsTable> = {
  id: "integer",
  model: "text",
  basis: "text",
  dimensions: "integer",
  storage: "text",
  created_at: "timestamptz",
};

export interface CorpusOpenQuestionsTable {
  id: Generated<number>;
  account_id: string;
  corpus_id: string;
  /** SHA-256 of the question in lower case, in hexadecimal digits. */
  question_hash: string;
  question: string;
  asked: Defaulted<number>;
  best_score_thousandths: number;
  call_id: string | null;
  asked_at: Timestamp;
}

export const corpusOpenQuestions: ColumnsOf<CorpusOpenQuestionsTable> = {
  id: "bigint",
  account_id: "uuid",
  corpus_id: "uuid",
  question_hash: "text",
  question: "text",
  asked: "integer",
  best_score_thousandths: "integer",
  call_id: "uuid null",
  asked_at: "timestamptz",
};
