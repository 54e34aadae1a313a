import type { corpusRoutes } from "@parley/schema";
import {
  type CorpusRow,
  createCorpus,
  deleteCorpus,
  getCorpus,
  listCorpora,
  updateCorpus,
} from "../../store/corpora/corpora.ts";
import { emptyCorpus } from "../../store/corpora/empty-corpus.ts";
import type { Handler, HandlerDeps, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { createCorpusUploadRoute } from "../corpora/upload-addresses.ts";
import { corpusSourceHandlers } from "./corpus-sources.ts";
import { corpusDocumentHandlers } from "./corpus-documents.ts";
import { notFound } from "./shared.ts";

const listCorporaRoute: Handler<"listCorpora"> = async ({ accountId, list }, { http }) => {
  const page = await pageAnswer(
    list,
    (wanted) => listCorpora(http.store.db, accountId, wanted),
    corpusResource,
  );
  return { status: 200, json: page };
};

const createCorpusRoute: Handler<"createCorpus"> = async ({ accountId, body, change }, deps) => {
  const { name = null, description = null } = body;
  const corpus = { name, description };
  const row = await change((tx) => createCorpus(tx, accountId, corpus), { idOf: ({ corpusId }) => corpusId });
  const headers = { location: `${deps.publicUrl()}/api/corpora/${row.corpusId}` };
  return { status: 201, json: corpusResource(row), headers };
};

const getCorpusRoute: Handler<"getCorpus"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: corpusResource(await corpusOrNotFound(deps, accountId, params.corpus_id)),
});

const replaceCorpusRoute: Handler<"replaceCorpus"> = async ({ accountId, params, body, change }) => {
  const { name = null, description = null } = body;
  const row = await change((tx) => updateCorpus(tx, accountId, params.corpus_id, { name, description }));
  if (row === null) throw notFound("corpus");
  return { status: 200, json: corpusResource(row) };
};

const updateCorpusRoute: Handler<"updateCorpus"> = async ({ accountId, params, body, change }) => {
  const row = await change((tx) => updateCorpus(tx, accountId, params.corpus_id, body));
  if (row === null) throw notFound("corpus");
  return { status: 200, json: corpusResource(row) };
};

const deleteCorpusRoute: Handler<"deleteCorpus"> = async ({ accountId, params, change }, { http }) => {
  await emptyCorpus(http.store.db, accountId, params.corpus_id);
  if (!(await change((tx) => deleteCorpus(tx, accountId, params.corpus_id)))) throw notFound("corpus");
  return { status: 204 };
};

export async function corpusOrNotFound(
  { http }: HandlerDeps,
  accountId: string,
  corpusId: string,
): Promise<CorpusRow> {
  const row = await getCorpus(http.store.db, accountId, corpusId);
  if (row === null) throw notFound("corpus");
  return row;
}

function corpusResource(row: CorpusRow): Resource {
  return {
    corpusId: row.corpusId,
    created: row.createdAt,
    name: row.name,
    description: row.description,
    stats: {
      status: row.status,
      lastUpdated: row.lastUpdatedAt,
      numChunks: row.chunksCount,
      numDocs: row.documentsCount,
      numVectors: row.vectorsCount,
    },
  };
}

export const corpusHandlers: HandlersOf<typeof corpusRoutes> = {
  listCorpora: listCorporaRoute,
  createCorpus: createCorpusRoute,
  getCorpus: getCorpusRoute,
  replaceCorpus: replaceCorpusRoute,
  updateCorpus: updateCorpusRoute,
  deleteCorpus: deleteCorpusRoute,
  createCorpusUpload: createCorpusUploadRoute,
  ...corpusSourceHandlers,
  ...corpusDocumentHandlers,
};
