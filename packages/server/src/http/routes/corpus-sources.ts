import {
  type CorpusSourcePatch,
  type CorpusSourceWrite,
  type FieldError,
  MAX_SOURCES,
  SOURCE_KINDS,
  type SourceKind,
  validationError,
} from "@parley/schema";
import { getCorpus } from "../../store/corpora/corpora.ts";
import {
  createSource,
  deleteSource,
  getSource,
  listSources,
  type NewSource,
  type SourceRow,
  updateSource,
} from "../../store/corpora/corpus-sources.ts";
import type { Db } from "../../store/database/db.ts";
import { TooManySourcesError, UnknownDocumentsError } from "../../store/database/store-errors.ts";
import type { Handler, HandlerDeps, HandlerInput } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import type { Resource } from "../../lifecycle/resource.ts";
import { notFound } from "./shared.ts";

const listSourcesRoute: Handler<"listCorpusSources"> = async ({ accountId, params, list }, { http }) => {
  const { db } = http.store;
  if ((await getCorpus(db, accountId, params.corpus_id)) === null) throw notFound("corpus");
  const page = await pageAnswer(
    list,
    (wanted) => listSources(db, accountId, params.corpus_id, wanted),
    sourceResource,
  );
  return { status: 200, json: page };
};

const createSourceRoute: Handler<"createCorpusSource"> = async (
  { accountId, params, body, change },
  deps,
) => {
  const { corpus_id: corpusId } = params;
  const chosen = chosenIn(body, deps);
  if (chosen === null) throw new Error("a source without a kind was accepted");
  const { name = null, description = null } = body;
  const source = { name, description, ...chosen };
  const create = change((tx) => queued(deps, accountId, tx, createSource(tx, accountId, corpusId, source)), {
    idOf: (made) => made?.sourceId ?? "",
  });
  const row = await asProblem(chosen.kind, create);
  if (row === null) throw notFound("corpus");
  deps.http.corpora.wakeLoads();
  const headers = { location: `${deps.publicUrl()}/api/corpora/${corpusId}/sources/${row.sourceId}` };
  return { status: 201, json: sourceResource(row), headers };
};

const getSourceRoute: Handler<"getCorpusSource"> = async ({ accountId, params }, deps) => ({
  status: 200,
  json: sourceResource(await sourceOrNotFound(deps, accountId, params)),
});

const replaceSourceRoute: Handler<"replaceCorpusSource"> = async (input, deps) => {
  const { name = null, description = null } = input.body;
  return changeSource(input, { ...input.body, name, description }, deps);
};

const updateSourceRoute: Handler<"updateCorpusSource"> = async (input, deps) =>
  changeSource(input, input.body, deps);

const deleteSourceRoute: Handler<"deleteCorpusSource"> = async ({ accountId, params, change }) => {
  const { corpus_id: corpusId, source_id: sourceId } = params;
  if (!(await change((tx) => deleteSource(tx, accountId, corpusId, sourceId)))) throw notFound("source");
  return { status: 204 };
};

interface SourceParams {
  readonly corpus_id: string;
  readonly source_id: string;
}

export async function sourceOrNotFound(
  { http }: HandlerDeps,
  accountId: string,
  { corpus_id: corpusId, source_id: sourceId }: SourceParams,
): Promise<SourceRow> {
  const row = await getSource(http.store.db, accountId, corpusId, sourceId);
  if (row === null) throw notFound("source");
  return row;
}

async function changeSource(
  { accountId, params, change }: Pick<HandlerInput<"updateCorpusSource">, "accountId" | "params" | "change">,
  body: CorpusSourcePatch,
  deps: HandlerDeps,
) {
  const { corpus_id: corpusId, source_id: sourceId } = params;
  const { name, description } = body;
  const chosen = chosenIn(body, deps);
  const decide = (present: SourceRow): NewSource => {
    if (chosen !== null && chosen.kind !== present.kind) {
      const message = `must not be given: the source has ${present.kind}, and keeps its kind`;
      throw validationError([{ field: chosen.kind, message }]);
    }
    const { kind, spec } = chosen ?? present;
    return {
      name: name === undefined ? present.name : name,
      description: description === undefined ? present.description : description,
      kind,
      spec,
      documentIds: chosen?.documentIds ?? [],
    };
  };
  const changed = change((tx) =>
    queued(deps, accountId, tx, updateSource(tx, accountId, corpusId, sourceId, decide)),
  );
  const row = await asProblem(chosen?.kind ?? "crawl", changed);
  if (row === null) throw notFound("source");
  deps.http.corpora.wakeLoads();
  return { status: 200, json: sourceResource(row) };
}

/** Queues the load of a source in the transaction that has stored it. */
async function queued(
  { http }: HandlerDeps,
  accountId: string,
  tx: Db,
  stored: Promise<SourceRow | null>,
): Promise<SourceRow | null> {
  const row = await stored;
  if (row !== null) await http.corpora.queueLoad(tx, { accountId, sourceId: row.sourceId });
  return row;
}

type Chosen = Pick<NewSource, "kind" | "spec" | "documentIds">;

/** The kind of source in a body, with its settings; null: none. */
function chosenIn(body: CorpusSourceWrite | CorpusSourcePatch, { http }: HandlerDeps): Chosen | null {
  const { crawl, loadSpec, upload, advanced } = body;
  const given = { crawl: crawl ?? loadSpec, upload, advanced };
  const kinds = SOURCE_KINDS.filter((kind) => given[kind] !== undefined);
  if (kinds.length > 1 || (crawl !== undefined && loadSpec !== undefined)) {
    throw validationError([{ field: "", message: `must have at most one of ${SOURCE_KINDS.join(", ")}` }]);
  }
  const [kind] = kinds;
  const spec = kind === undefined ? undefined : given[kind];
  if (kind === undefined || spec === undefined) return null;
  const errors = (given.crawl?.startUrls ?? []).flatMap((url, index): FieldError[] => {
    const reason = http.refusedTarget(url);
    const field = `${crawl === undefined ? "loadSpec" : "crawl"}.startUrls.${index}`;
    return reason === null ? [] : [{ field, message: `is not allowed: ${reason}` }];
  });
  if (errors.length > 0) throw validationError(errors);
  const documentIds = upload?.documentIds ?? advanced?.documents.map(({ documentId }) => documentId) ?? [];
  return { kind, spec, documentIds };
}

/** The store's refusals, as problems of the body. */
async function asProblem<Row>(kind: SourceKind, work: Promise<Row>): Promise<Row> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TooManySourcesError) {
      throw validationError([
        { field: "", message: `is one source too many: a corpus has at most ${MAX_SOURCES}` },
      ]);
    }
    if (!(error instanceof UnknownDocumentsError)) throw error;
    const message = "is not a document of this corpus that this source can use";
    throw validationError(
      error.positions.map((position) => ({
        field:
          kind === "upload" ? `upload.documentIds.${position}` : `advanced.documents.${position}.documentId`,
        message,
      })),
    );
  }
}

function sourceResource(row: SourceRow): Resource {
  return {
    corpusId: row.corpusId,
    sourceId: row.sourceId,
    created: row.createdAt,
    name: row.name,
    description: row.description,
    stats: { status: row.status, lastUpdated: row.lastUpdatedAt, numDocs: row.documentsCount },
    [row.kind]: row.spec,
  };
}

export const corpusSourceHandlers = {
  listCorpusSources: listSourcesRoute,
  createCorpusSource: createSourceRoute,
  getCorpusSource: getSourceRoute,
  replaceCorpusSource: replaceSourceRoute,
  updateCorpusSource: updateSourceRoute,
  deleteCorpusSource: deleteSourceRoute,
};
