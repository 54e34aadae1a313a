/** One corpus: its sources and settings. */

import type { Corpus, CorpusSource, CorpusSourceWrite } from "@parley/schema";
import { FileStack, Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Badge, Card, KeyValue, Page, PageHeader } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty, ErrorState, Loading } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useToast } from "../../ui/toast.tsx";
import { CorpusBadge, CorpusForm } from "./corpora-screen.tsx";
import { draftOf, kindOf, KINDS, nameOf, NEW_SOURCE, SOURCE_STATES } from "./source-draft.ts";
import { OpenQuestions } from "./open-questions.tsx";
import { SearchCard } from "./search-card.tsx";
import { SourceForm } from "./source-form.tsx";

const BACK = { to: "/corpora", label: "Knowledge base" };
const PATH = "/api/corpora/{corpus_id}";
const SOURCES = `${PATH}/sources` as const;
const SOURCE = `${SOURCES}/{source_id}` as const;

/** While something is loaded. */
const REFRESH_MS = 2_000;
const LOADING: ReadonlySet<Corpus["stats"]["status"]> = new Set([
  "CORPUS_STATUS_INITIALIZING",
  "CORPUS_STATUS_UPDATING",
]);

export function CorpusScreen() {
  const { corpusId = "" } = useParams();
  const everyMs = (corpus: Corpus | undefined) =>
    corpus !== undefined && LOADING.has(corpus.stats.status) ? REFRESH_MS : null;
  const { data, error, refetch } = useRead(PATH, { params: { corpus_id: corpusId } }, { everyMs });
  if (data !== undefined) return <OneCorpus corpus={data} />;
  return (
    <Page>
      <PageHeader title="Corpus" back={BACK} />
      {error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function OneCorpus({ corpus }: { readonly corpus: Corpus }) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const toast = useToast();
  const params = { corpus_id: corpus.corpusId };
  const remove = useChange<null, unknown>((api) => api.fetch("DELETE", PATH, { params }), []);
  const name = nameOf(corpus.name, corpus.corpusId);
  return (
    <Page>
      <PageHeader
        title={name}
        back={BACK}
        lead={
          <>
            <CorpusBadge corpus={corpus} /> <code>{corpus.corpusId}</code>
          </>
        }
        actions={
          <Button kind="danger" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden="true" /> Delete
          </Button>
        }
      />
      <Tabs
        label="Corpus"
        tabs={[
          { id: "sources", label: "Sources", content: <Sources corpusId={corpus.corpusId} /> },
          {
            id: "search",
            label: "Search",
            content: <SearchCard corpusId={corpus.corpusId} hasVectors={corpus.stats.numVectors > 0} />,
          },
          {
            id: "questions",
            label: "Unanswered",
            content: <OpenQuestions corpusId={corpus.corpusId} />,
          },
          { id: "about", label: "About", content: <About corpus={corpus} /> },
        ]}
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${name}?`}
        text="This also deletes its sources and documents. You cannot undo this."
        action="Delete corpus"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(null);
          toast("Corpus deleted.");
          void go("/corpora");
        }}
      />
    </Page>
  );
}

function About({ corpus }: { readonly corpus: Corpus }) {
  const toast = useToast();
  const { corpusId, name, description, created, stats } = corpus;
  const save = useChange(
    (api, body: { readonly name: string | null; readonly description: string | null }) =>
      api.fetch("PATCH", PATH, { params: { corpus_id: corpusId }, body }),
    ["/api/corpora"],
  );
  return (
    <Card title="About">
      <KeyValue
        rows={[
          ["Created", <When key="created" at={created} />],
          ["Documents", stats.numDocs.toLocaleString()],
          ["Chunks", stats.numChunks.toLocaleString()],
          ["Vectors", stats.numVectors === 0 ? "None: full text alone" : stats.numVectors.toLocaleString()],
          ["Last loaded", <When key="loaded" at={stats.lastUpdated} />],
        ]}
      />
      <CorpusForm
        name={name ?? ""}
        description={description ?? ""}
        action="Save corpus"
        onSave={async (newName, text) => {
          await save.mutateAsync({
            name: newName === "" ? null : newName,
            description: text === "" ? null : text,
          });
          toast("Corpus saved.");
        }}
      />
    </Card>
  );
}

function whatOf(source: CorpusSource): string {
  const { crawl, upload, advanced } = source;
  if (crawl !== undefined) return crawl.startUrls.join(", ");
  const count = upload?.documentIds.length ?? advanced?.documents.length ?? 0;
  return count === 1 ? "one document" : `${String(count)} documents`;
}

function columnsWith(
  onEdit: (source: CorpusSource) => void,
  onDelete: (source: CorpusSource) => void,
): readonly Column<CorpusSource>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: ({ corpusId, sourceId, name }) => (
        <Link to={`/corpora/${corpusId}/sources/${sourceId}`}>{nameOf(name, sourceId)}</Link>
      ),
    },
    {
      id: "kind",
      label: "Kind",
      cell: (source) => KINDS.find(({ value }) => value === kindOf(source))?.label ?? "",
    },
    { id: "what", label: "From", cell: (source) => whatOf(source) },
    {
      id: "status",
      label: "State",
      cell: ({ stats: { status } }) => (
        <Badge tone={SOURCE_STATES[status].tone}>{SOURCE_STATES[status].label}</Badge>
      ),
    },
    { id: "docs", label: "Documents", end: true, cell: ({ stats }) => stats.numDocs.toLocaleString() },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: (source) => {
        const name = nameOf(source.name, source.sourceId);
        return (
          <>
            <IconButton
              label={`Edit ${name}`}
              icon={<Pencil aria-hidden="true" />}
              small
              onClick={() => onEdit(source)}
            />
            <IconButton
              label={`Delete ${name}`}
              icon={<Trash2 aria-hidden="true" />}
              small
              onClick={() => onDelete(source)}
            />
          </>
        );
      },
    },
  ];
}

function whileLoading(sources: readonly CorpusSource[]): number | null {
  return sources.some(({ stats }) => stats.status !== "SOURCE_STATUS_READY") ? REFRESH_MS : null;
}

/** Creates a source, or replaces the edited one. */
function useSave(corpusId: string, edited: CorpusSource | null) {
  const params = { corpus_id: corpusId };
  return useChange<CorpusSourceWrite, unknown>(
    (api, body) =>
      edited === null
        ? api.fetch("POST", SOURCES, { params, body })
        : api.fetch("PUT", SOURCE, { params: { ...params, source_id: edited.sourceId }, body }),
    ["/api/corpora"],
  );
}

function Sources({ corpusId }: { readonly corpusId: string }) {
  const [edited, setEdited] = useState<CorpusSource | "new" | null>(null);
  const [doomed, setDoomed] = useState<CorpusSource | null>(null);
  const toast = useToast();
  const params = { corpus_id: corpusId };
  const pages = usePages(SOURCES, { params }, { everyMs: whileLoading });
  const save = useSave(corpusId, edited === "new" ? null : edited);
  const remove = useChange(
    (api, id: string) => api.fetch("DELETE", SOURCE, { params: { ...params, source_id: id } }),
    ["/api/corpora"],
  );
  const add = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setEdited("new")}>
      <Plus aria-hidden="true" /> Add source
    </ScopedButton>
  );
  return (
    <Card title="Sources" actions={(pages.rows?.length ?? 0) > 0 && add}>
      <PagedTable
        label="Sources"
        pages={pages}
        columns={columnsWith(setEdited, setDoomed)}
        keyOf={({ sourceId }) => sourceId}
        empty={
          <Empty icon={<FileStack aria-hidden="true" />} title="No sources yet" actions={add}>
            Add web pages or uploaded documents, up to 20 sources.
          </Empty>
        }
      />
      <Dialog
        open={edited !== null}
        onClose={() => setEdited(null)}
        wide
        title={edited === "new" ? "New source" : "Edit source"}
        text={
          edited === "new" ? "Where the documents come from." : "The source is loaded again after a change."
        }
      >
        <SourceForm
          initial={edited === "new" || edited === null ? NEW_SOURCE : draftOf(edited)}
          isNew={edited === "new"}
          corpusId={corpusId}
          onCancel={() => setEdited(null)}
          onSave={async (body) => {
            await save.mutateAsync(body);
            toast("Source saved. It is being loaded.");
            setEdited(null);
          }}
        />
      </Dialog>
      <Confirm
        open={doomed !== null}
        onClose={() => setDoomed(null)}
        title="Delete this source?"
        text="This also deletes its documents. You cannot undo this."
        action="Delete source"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(doomed?.sourceId ?? "");
          toast("Source deleted.");
        }}
      />
    </Card>
  );
}
