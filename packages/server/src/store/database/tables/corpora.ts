/** Tables of corpora: their sources, documents, pages and chunks. */

import type { SourceKind } from "@parley/schema";
import type { Generated } from "kysely";
import type { ColumnsOf, Defaulted, Json, NullableTimestamp, Timestamp } from "./columns.ts";

export interface CorporaTable {
  id: string;
  account_id: string;
  name: string | null;
  description: string | null;
  created_at: Timestamp;
  /** When a load has first left documents; null: never, or the corpus has become empty since. */
  ready_at: NullableTimestamp;
  /** A job that will index the corpus has not begun; after this time it counts as lost. */
  index_queued_until: NullableTimestamp;
  /** Chunks that have come or gone. */
  chunks_changed: Defaulted<number>;
  /** The job that indexes the corpus. */
  indexer: string | null;
  indexer_until: NullableTimestamp;
}

export const corpora: ColumnsOf<CorporaTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text null",
  description: "text null",
  created_at: "timestamptz",
  ready_at: "timestamptz null",
  index_queued_until: "timestamptz null",
  chunks_changed: "bigint",
  indexer: "text null",
  indexer_until: "timestamptz null",
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
  /** Raised by each request to load. */
  generation: Defaulted<number>;
  /** The generation of the last finished load. */
  loaded_generation: number | null;
  /** The job that loads the source. */
  loader: string | null;
  /** Of that job. */
  loader_attempt: string | null;
  loader_until: NullableTimestamp;
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
  generation: "integer",
  loaded_generation: "integer null",
  loader: "uuid null",
  loader_attempt: "uuid null",
  loader_until: "timestamptz null",
};

export type DocumentStatus = "expected" | "uploaded" | "ready" | "failed";

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
  file_name: string | null;
  /** The canonical address of a page. */
  url: string | null;
  title: string | null;
  language: string | null;
  status: Defaulted<DocumentStatus>;
  failure_code: string | null;
  failure: string | null;
  /** SHA-256 of the bytes, in hexadecimal digits. */
  content_hash: string | null;
  reading_version: Defaulted<number>;
  generation: Defaulted<number>;
  attempts: Defaulted<number>;
  loaded_at: NullableTimestamp;
  /** SHA-256 of the secret part of the upload address, in hexadecimal digits. */
  upload_token: string | null;
  upload_until: NullableTimestamp;
  file_node: string | null;
  file_is_shared: Defaulted<boolean>;
  /** Raised with each change of the chunks. */
  chunks_version: Defaulted<number>;
  /** The version whose chunks have their vectors, and the model that made them. */
  indexed_version: Defaulted<number>;
  indexed_model: number | null;
  /** The last chunk that was tried with the model. */
  indexed_through: Defaulted<number>;
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
  file_name: "text null",
  url: "text null",
  title: "text null",
  language: "text null",
  status: "text",
  failure_code: "text null",
  failure: "text null",
  content_hash: "text null",
  reading_version: "integer",
  generation: "integer",
  attempts: "integer",
  loaded_at: "timestamptz null",
  upload_token: "text null",
  upload_until: "timestamptz null",
  file_node: "text null",
  file_is_shared: "boolean",
  chunks_version: "integer",
  indexed_version: "integer",
  indexed_model: "integer null",
  indexed_through: "bigint",
};

export type PageState = "waiting" | "loaded" | "skipped" | "failed";

export interface CorpusPagesTable {
  id: Generated<number>;
  source_id: string;
  corpus_id: string;
  account_id: string;
  generation: number;
  url: string;
  /** 1: a start page. */
  depth: number;
  state: Defaulted<PageState>;
  attempts: Defaulted<number>;
  failure_code: string | null;
  failure: string | null;
  created_at: Timestamp;
}

export const corpusPages: ColumnsOf<CorpusPagesTable> = {
  id: "bigint",
  source_id: "uuid",
  corpus_id: "uuid",
  account_id: "uuid",
  generation: "integer",
  url: "text",
  depth: "integer",
  state: "text",
  attempts: "integer",
  failure_code: "text null",
  failure: "text null",
  created_at: "timestamptz",
};

export interface CorpusChunksTable {
  chunk_id: Generated<number>;
  account_id: string;
  corpus_id: string;
  source_id: string;
  document_id: string;
  /** From 0, without gaps once the document is stored. */
  position: number;
  heading_path: Json<readonly string[]>;
  page: number | null;
  text: string;
  tokens: number;
  language: string | null;
  content_hash: string;
  words: string;
}

export const corpusChunks: ColumnsOf<CorpusChunksTable> = {
  chunk_id: "bigint",
  account_id: "uuid",
  corpus_id: "uuid",
  source_id: "uuid",
  document_id: "uuid",
  position: "integer",
  heading_path: "json",
  page: "integer null",
  text: "text",
  tokens: "integer",
  language: "text null",
  content_hash: "text",
  words: "tsvector",
};

export interface CorpusFilesToRemoveTable {
  document_id: string;
  file_node: string | null;
  is_shared: boolean;
  failures: Defaulted<number>;
  due_at: Timestamp;
}

export const corpusFilesToRemove: ColumnsOf<CorpusFilesToRemoveTable> = {
  document_id: "uuid",
  file_node: "text null",
  is_shared: "boolean",
  failures: "integer",
  due_at: "timestamptz",
};

export interface CorpusChunksToRemoveTable {
  document_id: string;
  corpus_id: string;
  id: Generated<number>;
}

export const corpusChunksToRemove: ColumnsOf<CorpusChunksToRemoveTable> = {
  document_id: "uuid",
  corpus_id: "uuid",
  id: "bigint",
};
