import { type ChunkRow, listChunks } from "../../store/corpora/chunks.ts";
import { type DocumentRow, getDocument, listDocuments } from "../../store/corpora/corpus-sources.ts";
import { listLoadFailures, type LoadFailureRow } from "../../store/corpora/load-failures.ts";
import type { Handler } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { sourceOrNotFound } from "./corpus-sources.ts";
import { notFound } from "./shared.ts";

const listDocumentsRoute: Handler<"listCorpusDocuments"> = async ({ accountId, params, list }, deps) => {
  await sourceOrNotFound(deps, accountId, params);
  const page = await pageAnswer(
    list,
    (wanted) => listDocuments(deps.http.store.db, accountId, params.source_id, wanted),
    documentResource,
  );
  return { status: 200, json: page };
};

const getDocumentRoute: Handler<"getCorpusDocument"> = async ({ accountId, params }, deps) => {
  await sourceOrNotFound(deps, accountId, params);
  const row = await getDocument(deps.http.store.db, accountId, params.source_id, params.document_id);
  if (row === null) throw notFound("document");
  return { status: 200, json: documentResource(row) };
};

const listChunksRoute: Handler<"listCorpusChunks"> = async ({ accountId, params, list }, deps) => {
  const { db } = deps.http.store;
  await sourceOrNotFound(deps, accountId, params);
  if ((await getDocument(db, accountId, params.source_id, params.document_id)) === null)
    throw notFound("document");
  const page = await pageAnswer(
    list,
    (wanted) => listChunks(db, accountId, params.document_id, wanted),
    chunkResource,
  );
  return { status: 200, json: page };
};

const listFailuresRoute: Handler<"listCorpusFailures"> = async ({ accountId, params, list }, deps) => {
  await sourceOrNotFound(deps, accountId, params);
  const page = await pageAnswer(
    list,
    (wanted) => listLoadFailures(deps.http.store.db, accountId, params.source_id, wanted),
    failureResource,
  );
  return { status: 200, json: page };
};

function documentResource(row: DocumentRow): Resource {
  return {
    corpusId: row.corpusId,
    sourceId: row.sourceId,
    documentId: row.documentId,
    created: row.createdAt,
    mimeType: row.mimeType,
    metadata: row.metadata,
    sizeBytes: String(row.sizeBytes),
  };
}

function chunkResource({ chunkId, position, headingPath, page, text, tokens }: ChunkRow): Resource {
  return { chunkId: String(chunkId), position, headingPath, page, text, tokens };
}

function failureResource({ documentId, url, fileName, code, message, createdAt }: LoadFailureRow): Resource {
  return { documentId, publicUrl: url, fileName, code, message, created: createdAt };
}

export const corpusDocumentHandlers = {
  listCorpusDocuments: listDocumentsRoute,
  getCorpusDocument: getDocumentRoute,
  listCorpusChunks: listChunksRoute,
  listCorpusFailures: listFailuresRoute,
};
