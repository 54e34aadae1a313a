/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Corpus,
  CorpusDocument,
  CorpusDocumentPage,
  CorpusOpenQuestion,
  CorpusOpenQuestionPage,
  CorpusPage,
  CorpusPatch,
  CorpusQuery,
  CorpusQueryResult,
  CorpusSource,
  CorpusSourcePage,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusUpload,
  CorpusUploadRequest,
  CorpusWrite,
  ListCorpusChunksOutput,
  ListCorpusChunksRow,
  ListCorpusFailuresOutput,
  ListCorpusFailuresRow,
} from "../records/corpora.ts";

/** List corpora: `GET /api/corpora`. Needs the scope `read`. */
export interface ListCorporaInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Create an empty corpus: `POST /api/corpora`. Needs the scope `admin`. */
export interface CreateCorpusInput extends RequestOptions {
  readonly body?: CorpusWrite | undefined;
}

/** Get a corpus: `GET /api/corpora/{corpus_id}`. Needs the scope `read`. */
export interface GetCorpusInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
}

/** Replace the name and description of a corpus: `PUT /api/corpora/{corpus_id}`. Needs the scope `admin`. */
export interface ReplaceCorpusInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly body?: CorpusWrite | undefined;
}

/** Change the name or description of a corpus: `PATCH /api/corpora/{corpus_id}`. Needs the scope `admin`. */
export interface UpdateCorpusInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly body?: CorpusPatch | undefined;
}

/**
 * Delete a corpus with its sources and documents: `DELETE /api/corpora/{corpus_id}`. Needs the scope `admin`.
 */
export interface DeleteCorpusInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
}

/**
 * Get an address to upload a document to: `POST /api/corpora/{corpus_id}/uploads`. Needs the scope `admin`.
 */
export interface CreateCorpusUploadInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly body: CorpusUploadRequest;
}

/** List the sources of a corpus: `GET /api/corpora/{corpus_id}/sources`. Needs the scope `read`. */
export interface ListCorpusSourcesInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Add a source to a corpus: `POST /api/corpora/{corpus_id}/sources`. Needs the scope `admin`. */
export interface CreateCorpusSourceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly body: CorpusSourceWrite;
}

/** Get a source: `GET /api/corpora/{corpus_id}/sources/{source_id}`. Needs the scope `read`. */
export interface GetCorpusSourceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
}

/**
 * Replace a source with one of the same kind; it is loaded again: `PUT
 * /api/corpora/{corpus_id}/sources/{source_id}`. Needs the scope `admin`.
 */
export interface ReplaceCorpusSourceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
  readonly body: CorpusSourceWrite;
}

/**
 * Change a source; it is loaded again even if nothing changes: `PATCH
 * /api/corpora/{corpus_id}/sources/{source_id}`. Needs the scope `admin`.
 */
export interface UpdateCorpusSourceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
  readonly body?: CorpusSourcePatch | undefined;
}

/**
 * Delete a source with its documents: `DELETE /api/corpora/{corpus_id}/sources/{source_id}`. Needs the scope
 * `admin`.
 */
export interface DeleteCorpusSourceInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
}

/**
 * List the documents of a source: `GET /api/corpora/{corpus_id}/sources/{source_id}/documents`. Needs the
 * scope `read`.
 */
export interface ListCorpusDocumentsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Get a document's record: `GET /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}`. Needs
 * the scope `read`.
 */
export interface GetCorpusDocumentInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
    /** A UUID. */
    document_id: string;
  };
}

/**
 * List the chunks of a document: `GET
 * /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}/chunks`. Needs the scope `read`.
 */
export interface ListCorpusChunksInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
    /** A UUID. */
    document_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * List the documents and pages of a source that could not be loaded: `GET
 * /api/corpora/{corpus_id}/sources/{source_id}/failures`. Needs the scope `read`.
 */
export interface ListCorpusFailuresInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
    /** A UUID. */
    source_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/** Search a corpus: `POST /api/corpora/{corpus_id}/query`. Needs the scope `read`. */
export interface QueryCorpusInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly body: CorpusQuery;
}

/**
 * List the questions that a corpus could not answer: `GET /api/corpora/{corpus_id}/open_questions`. Needs the
 * scope `read`.
 */
export interface ListCorpusOpenQuestionsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Delete the questions that a corpus could not answer: `DELETE /api/corpora/{corpus_id}/open_questions`.
 * Needs the scope `admin`.
 */
export interface DeleteCorpusOpenQuestionsInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    corpus_id: string;
  };
}

export interface CorporaOperations {
  /** List corpora. */
  "GET /api/corpora": { input: ListCorporaInput; output: CorpusPage; row: Corpus };
  /** Create an empty corpus. */
  "POST /api/corpora": { input: CreateCorpusInput; output: Corpus };
  /** Get a corpus. */
  "GET /api/corpora/{corpus_id}": { input: GetCorpusInput; output: Corpus };
  /** Replace the name and description of a corpus. */
  "PUT /api/corpora/{corpus_id}": { input: ReplaceCorpusInput; output: Corpus };
  /** Change the name or description of a corpus. */
  "PATCH /api/corpora/{corpus_id}": { input: UpdateCorpusInput; output: Corpus };
  /** Delete a corpus with its sources and documents. */
  "DELETE /api/corpora/{corpus_id}": { input: DeleteCorpusInput; output: undefined };
  /** Get an address to upload a document to. */
  "POST /api/corpora/{corpus_id}/uploads": { input: CreateCorpusUploadInput; output: CorpusUpload };
  /** List the sources of a corpus. */
  "GET /api/corpora/{corpus_id}/sources": { input: ListCorpusSourcesInput; output: CorpusSourcePage; row: CorpusSource };
  /** Add a source to a corpus. */
  "POST /api/corpora/{corpus_id}/sources": { input: CreateCorpusSourceInput; output: CorpusSource };
  /** Get a source. */
  "GET /api/corpora/{corpus_id}/sources/{source_id}": { input: GetCorpusSourceInput; output: CorpusSource };
  /** Replace a source with one of the same kind; it is loaded again. */
  "PUT /api/corpora/{corpus_id}/sources/{source_id}": { input: ReplaceCorpusSourceInput; output: CorpusSource };
  /** Change a source; it is loaded again even if nothing changes. */
  "PATCH /api/corpora/{corpus_id}/sources/{source_id}": { input: UpdateCorpusSourceInput; output: CorpusSource };
  /** Delete a source with its documents. */
  "DELETE /api/corpora/{corpus_id}/sources/{source_id}": { input: DeleteCorpusSourceInput; output: undefined };
  /** List the documents of a source. */
  "GET /api/corpora/{corpus_id}/sources/{source_id}/documents": { input: ListCorpusDocumentsInput; output: CorpusDocumentPage; row: CorpusDocument };
  /** Get a document's record. */
  "GET /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}": { input: GetCorpusDocumentInput; output: CorpusDocument };
  /** List the chunks of a document. */
  "GET /api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}/chunks": { input: ListCorpusChunksInput; output: ListCorpusChunksOutput; row: ListCorpusChunksRow };
  /** List the documents and pages of a source that could not be loaded. */
  "GET /api/corpora/{corpus_id}/sources/{source_id}/failures": { input: ListCorpusFailuresInput; output: ListCorpusFailuresOutput; row: ListCorpusFailuresRow };
  /** Search a corpus. */
  "POST /api/corpora/{corpus_id}/query": { input: QueryCorpusInput; output: CorpusQueryResult[] };
  /** List the questions that a corpus could not answer. */
  "GET /api/corpora/{corpus_id}/open_questions": { input: ListCorpusOpenQuestionsInput; output: CorpusOpenQuestionPage; row: CorpusOpenQuestion };
  /** Delete the questions that a corpus could not answer. */
  "DELETE /api/corpora/{corpus_id}/open_questions": { input: DeleteCorpusOpenQuestionsInput; output: undefined };
}
