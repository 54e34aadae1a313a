/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { ExactlyOne } from "../../choices.ts";

/** Documents that agents can search. EMPTY without documents. */
export interface Corpus {
  /** A UUID. */
  corpusId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** At most 200 characters. */
  name: string | null;
  /** At most 2000 characters. */
  description: string | null;
  stats: {
    /** INITIALIZING until a source has been loaded for the first time. EMPTY if it then has no documents. */
    status: "CORPUS_STATUS_EMPTY" | "CORPUS_STATUS_INITIALIZING" | "CORPUS_STATUS_READY" | "CORPUS_STATUS_UPDATING";
    /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
    lastUpdated: string | null;
    /** At least 0. */
    numChunks: number;
    /** At least 0. */
    numDocs: number;
    /** At least 0. */
    numVectors: number;
  };
}

export interface CorpusDocument {
  /** A UUID. */
  corpusId: string;
  /** A UUID. */
  sourceId: string;
  /** A UUID. */
  documentId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  mimeType: string;
  metadata: {
    publicUrl?: string | undefined;
    language?: string | undefined;
    title?: string | undefined;
    description?: string | undefined;
    /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
    published?: string | undefined;
    exampleQueries?: string[] | undefined;
  };
  /** A whole number, as text. */
  sizeBytes: string;
}

export interface CorpusDocumentPage {
  results: CorpusDocument[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** A question that a corpus could not answer. It is kept for 30 days. */
export interface CorpusOpenQuestion {
  question: string;
  /** How often it was asked. At least 1. */
  asked: number;
  /** The score of the best passage of the last time; 0: there was none. */
  bestScore: number;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  lastAsked: string;
}

export interface CorpusOpenQuestionPage {
  results: CorpusOpenQuestion[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface CorpusPage {
  results: Corpus[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** The body that changes a corpus. Null clears a field. */
export interface CorpusPatch {
  /** At most 200 characters. */
  name?: string | null | undefined;
  /** At most 2000 characters. */
  description?: string | null | undefined;
}

/** The origin of documents in a corpus. It has exactly one of `crawl`, `upload` and `advanced`. */
export interface CorpusSource {
  /** A UUID. */
  corpusId: string;
  /** A UUID. */
  sourceId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** At most 200 characters. */
  name: string | null;
  /** At most 2000 characters. */
  description: string | null;
  stats: {
    /** INITIALIZING until it has been loaded for the first time, even if loading has not started. */
    status: "SOURCE_STATUS_INITIALIZING" | "SOURCE_STATUS_READY" | "SOURCE_STATUS_UPDATING";
    /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
    lastUpdated: string | null;
    /** At least 0. */
    numDocs: number;
  };
  crawl?: CrawlSpec | undefined;
  upload?: {
    /** At most 200 entries. */
    documentIds: string[];
  } | undefined;
  advanced?: {
    /** At most 200 entries. */
    documents: Array<{
      /** A UUID. */
      documentId: string;
      /** At most 100 entries. */
      exampleQueries?: string[] | undefined;
    }>;
  } | undefined;
}

export interface CorpusSourcePage {
  results: CorpusSource[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** The body that changes a source. Its kind cannot change. */
export interface CorpusSourcePatch {
  /** At most 200 characters. */
  name?: string | null | undefined;
  /** At most 2000 characters. */
  description?: string | null | undefined;
  crawl?: CrawlSpec | undefined;
  upload?: {
    /** At most 200 entries. */
    documentIds: string[];
  } | undefined;
  advanced?: {
    /** At most 200 entries. */
    documents: Array<{
      /** A UUID. */
      documentId: string;
      /** At most 100 entries. */
      exampleQueries?: string[] | undefined;
    }>;
  } | undefined;
  /** Older spelling of `crawl`. */
  loadSpec?: CrawlSpec | undefined;
}

/** The body that adds a source, or replaces a source of the same kind. */
export type CorpusSourceWrite = ExactlyOne<{
  crawl: CrawlSpec;
  upload: {
    /** At most 200 entries. */
    documentIds: string[];
  };
  advanced: {
    /** At most 200 entries. */
    documents: Array<{
      /** A UUID. */
      documentId: string;
      /** At most 100 entries. */
      exampleQueries?: string[] | undefined;
    }>;
  };
  /** Older spelling of `crawl`. */
  loadSpec: CrawlSpec;
}> & {
  /** At most 200 characters. */
  name?: string | undefined;
  /** At most 2000 characters. */
  description?: string | undefined;
};

/** The body that creates a corpus, or replaces its name and description. */
export interface CorpusWrite {
  /** At most 200 characters. */
  name?: string | undefined;
  /** At most 2000 characters. */
  description?: string | undefined;
}

/** Web pages. Only pages of the same host are read. */
export interface CrawlSpec {
  /** At most 100 entries. */
  startUrls: string[];
  /** 1: only the `startUrls`. From 1 to 20. */
  maxDepth?: number | undefined;
  /** From 1 to 200. */
  maxDocuments?: number | undefined;
  /** Larger documents are skipped. From 1 to 10485760. */
  maxDocumentBytes?: number | undefined;
  relevantDocumentTypes?: {
    include?: {
      /** At most 100 entries. */
      mimeTypes: string[];
    } | undefined;
    exclude?: {
      /** At most 100 entries. */
      mimeTypes: string[];
    } | undefined;
  } | undefined;
}

export interface CorpusUploadRequest {
  /** At most 255 characters. */
  mimeType: string;
  /** At most 255 characters. Default: `""`. */
  fileName?: string | undefined;
}

export interface CorpusQuery {
  /** At most 10000 characters. */
  query: string;
  /** From 1 to 20. Default: `5`. */
  maxResults?: number | undefined;
  /** Adds to each result how it was found: `ranking`. Default: `false`. */
  explain?: boolean | undefined;
}

export interface CorpusUpload {
  /** A UUID. */
  documentId: string;
  /** Upload the document here with PUT, within 5 minutes. A URL. At most 2048 characters. */
  presignedUrl: string;
}

export interface ListCorpusChunksRow {
  /** A whole number, as text. */
  chunkId: string;
  /** From 0, in the order of the document. At least 0. */
  position: number;
  /** The headings above the text, outermost first. */
  headingPath: string[];
  /** Null: the document has no pages. At least 1. */
  page: number | null;
  text: string;
  /** An estimate. At least 0. */
  tokens: number;
}

export interface ListCorpusChunksOutput {
  results: ListCorpusChunksRow[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface ListCorpusFailuresRow {
  /** Null: a page of which nothing is stored. A UUID. */
  documentId: string | null;
  publicUrl: string | null;
  fileName: string | null;
  /** Such as `encrypted`, `damaged` or `not_found`. */
  code: string;
  message: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
}

export interface ListCorpusFailuresOutput {
  results: ListCorpusFailuresRow[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface CorpusQueryResult {
  content: string;
  /** 0 to 1; higher is a better match. */
  score: number;
  citation: {
    /** A UUID. */
    sourceId: string;
    /** A UUID. */
    documentId: string;
    publicUrl: string | null;
    title: string | null;
  };
  /** Only with `explain`. */
  ranking?: {
    /** The place by full text, from 1. Null: its words are not those of the query. At least 1. */
    textRank: number | null;
    /** The place by meaning, from 1. Null: not found by its vector. At least 1. */
    vectorRank: number | null;
    /** The place before the reranker. Null: there is no reranker. At least 1. */
    fusedRank: number | null;
    /** The headings above the passage, outermost first. */
    headingPath: string[];
    /** The page in the document. Null: it has no pages. At least 1. */
    page: number | null;
  } | undefined;
}
