/** Routes of corpora, their sources and documents. */

import { z } from "zod";
import {
  Corpus,
  CorpusChunk,
  CorpusDocument,
  CorpusFailure,
  CorpusPatch,
  CorpusSource,
  CorpusSourcePatch,
  CorpusSourceWrite,
  CorpusUploadsRequest,
  CorpusUploadsResponse,
  CorpusWrite,
} from "./corpus.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";

const CorpusParams = z.strictObject({ corpus_id: Uuid });
const SourceParams = z.strictObject({ corpus_id: Uuid, source_id: Uuid });
const DocumentParams = z.strictObject({ corpus_id: Uuid, source_id: Uuid, document_id: Uuid });

export const CorpusPage = pageOf(Corpus);
export const CorpusSourcePage = pageOf(CorpusSource);
export const CorpusDocumentPage = pageOf(CorpusDocument);
export const CorpusChunkPage = pageOf(CorpusChunk);
export const CorpusFailurePage = pageOf(CorpusFailure);

const CORPUS = "/api/corpora/{corpus_id}";
const SOURCES = `${CORPUS}/sources` as const;
const SOURCE = `${SOURCES}/{source_id}` as const;

const all = { ...plain, tag: "corpora", errors: ["not_found"] } as const;
const corpus = { ...all, params: CorpusParams } as const;
const source = { ...all, params: SourceParams } as const;

export const corpusRoutes = {
  listCorpora: {
    ...all,
    method: "GET",
    scope: "read",
    path: "/api/corpora",
    summary: "List corpora",
    query: PageQuery,
    responses: { 200: json(CorpusPage, "A page of corpora, newest first.") },
    errors: [],
  },
  createCorpus: {
    ...all,
    method: "POST",
    scope: "admin",
    path: "/api/corpora",
    summary: "Create an empty corpus",
    request: CorpusWrite,
    responses: { 201: json(Corpus, "The new corpus.") },
    errors: [],
  },
  getCorpus: {
    ...corpus,
    method: "GET",
    scope: "read",
    path: CORPUS,
    summary: "Get a corpus",
    responses: { 200: json(Corpus, "The corpus.") },
  },
  replaceCorpus: {
    ...corpus,
    method: "PUT",
    scope: "admin",
    path: CORPUS,
    summary: "Replace the name and description of a corpus",
    request: CorpusWrite,
    responses: { 200: json(Corpus, "The changed corpus.") },
  },
  updateCorpus: {
    ...corpus,
    method: "PATCH",
    scope: "admin",
    path: CORPUS,
    summary: "Change the name or description of a corpus",
    request: CorpusPatch,
    partial: true,
    responses: { 200: json(Corpus, "The changed corpus.") },
  },
  deleteCorpus: {
    ...corpus,
    method: "DELETE",
    scope: "admin",
    path: CORPUS,
    summary: "Delete a corpus with its sources and documents",
    responses: { 204: noContent },
  },
  createCorpusUpload: {
    ...corpus,
    method: "POST",
    scope: "admin",
    path: `${CORPUS}/uploads`,
    summary: "Get an address to upload a document to",
    request: CorpusUploadsRequest,
    responses: { 201: json(CorpusUploadsResponse, "Where to upload the document.") },
    errors: ["not_found", "conflict"],
  },
  listCorpusSources: {
    ...corpus,
    method: "GET",
    scope: "read",
    path: SOURCES,
    summary: "List the sources of a corpus",
    query: PageQuery,
    responses: { 200: json(CorpusSourcePage, "A page of sources, newest first.") },
  },
  createCorpusSource: {
    ...corpus,
    method: "POST",
    scope: "admin",
    path: SOURCES,
    summary: "Add a source to a corpus",
    request: CorpusSourceWrite,
    responses: { 201: json(CorpusSource, "The new source.") },
  },
  getCorpusSource: {
    ...source,
    method: "GET",
    scope: "read",
    path: SOURCE,
    summary: "Get a source",
    responses: { 200: json(CorpusSource, "The source.") },
  },
  replaceCorpusSource: {
    ...source,
    method: "PUT",
    scope: "admin",
    path: SOURCE,
    summary: "Replace a source with one of the same kind; it is loaded again",
    request: CorpusSourceWrite,
    responses: { 200: json(CorpusSource, "The changed source.") },
  },
  updateCorpusSource: {
    ...source,
    method: "PATCH",
    scope: "admin",
    path: SOURCE,
    summary: "Change a source; it is loaded again even if nothing changes",
    request: CorpusSourcePatch,
    partial: true,
    responses: { 200: json(CorpusSource, "The changed source.") },
  },
  deleteCorpusSource: {
    ...source,
    method: "DELETE",
    scope: "admin",
    path: SOURCE,
    summary: "Delete a source with its documents",
    responses: { 204: noContent },
  },
  listCorpusDocuments: {
    ...source,
    method: "GET",
    scope: "read",
    path: `${SOURCE}/documents`,
    summary: "List the documents of a source",
    query: PageQuery,
    responses: { 200: json(CorpusDocumentPage, "A page of documents, newest first.") },
  },
  getCorpusDocument: {
    ...source,
    method: "GET",
    scope: "read",
    path: `${SOURCE}/documents/{document_id}`,
    summary: "Get a document's record",
    params: DocumentParams,
    responses: { 200: json(CorpusDocument, "The document's record.") },
  },
  listCorpusChunks: {
    ...source,
    method: "GET",
    scope: "read",
    path: `${SOURCE}/documents/{document_id}/chunks`,
    summary: "List the chunks of a document",
    params: DocumentParams,
    query: PageQuery,
    responses: { 200: json(CorpusChunkPage, "A page of chunks, in the order of the document.") },
  },
  listCorpusFailures: {
    ...source,
    method: "GET",
    scope: "read",
    path: `${SOURCE}/failures`,
    summary: "List the documents and pages of a source that could not be loaded",
    query: PageQuery,
    responses: { 200: json(CorpusFailurePage, "A page of failures with their reasons, newest first.") },
  },
} as const satisfies Record<string, Route>;
