/** Tables of corpora: their sources and documents. */

import type { SourceKind } from "@parley/schema";
import type { ColumnsOf, Defaulted, Json, NullableTimestamp, Timestamp } from "./columns.ts";

export interface CorporaTable {
  id: string;
  account_id: string;
  name: string | null;
  description: string | null;
  created_at: Timestamp;
}

export const corpora: ColumnsOf<CorporaTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text null",
  description: "text null",
  created_at: "timestamptz",
};

export interface CorpusSourcesTable {
  id: string;
  corpus_id: string;
  account_id: string;
  name: string | null;
  description: string | null;
  kind: SourceKind;
  spec: Json;
  created_at: Timestamp;
  load_requested_at: Timestamp;
  loaded_at: NullableTimestamp;
}

export const corpusSources: ColumnsOf<CorpusSourcesTable> = {
  id: "uuid",
  corpus_id: "uuid",
  account_id: "uuid",
  name: "text null",
  description: "text null",
  kind: "text",
  spec: "json",
  created_at: "timestamptz",
  load_requested_at: "timestamptz",
  loaded_at: "timestamptz null",
};

export interface CorpusDocumentsTable {
  id: string;
  corpus_id: string;
  account_id: string;
  /** Null: uploaded, and not taken by a source yet. */
  source_id: string | null;
  mime_type: string;
  metadata: Json;
  size_bytes: number;
  chunks_count: Defaulted<number>;
  vectors_count: Defaulted<number>;
  created_at: Timestamp;
}

export const corpusDocuments: ColumnsOf<CorpusDocumentsTable> = {
  id: "uuid",
  corpus_id: "uuid",
  account_id: "uuid",
  source_id: "uuid null",
  mime_type: "text",
  metadata: "json",
  size_bytes: "bigint",
  chunks_count: "integer",
  vectors_count: "integer",
  created_at: "timestamptz",
};
