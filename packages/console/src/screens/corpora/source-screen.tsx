/** One source: its documents with their chunks, and what could not be loaded. */

import type { CorpusDocument, CorpusFailure, CorpusSource } from "@parley/schema";
import { FileStack } from "lucide-react";
import { useEffect, useState } from "react";
import { useParams } from "react-router";
import { useChange, useRead, useStale } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Badge, Card, Page, PageHeader } from "../../ui/display.tsx";
import { sizeText } from "../../ui/file-field.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty, ErrorState, Loading } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Chunks } from "./chunks.tsx";
import { nameOf, SOURCE_STATES } from "./source-draft.ts";

const SOURCE = "/api/corpora/{corpus_id}/sources/{source_id}";
/** While it is loaded. */
const REFRESH_MS = 2_000;

function isLoading({ stats }: CorpusSource): boolean {
  return stats.status !== "SOURCE_STATUS_READY";
}

export function SourceScreen() {
  const { corpusId = "", sourceId = "" } = useParams();
  const params = { corpus_id: corpusId, source_id: sourceId };
  const everyMs = (source: CorpusSource | undefined) =>
    source !== undefined && isLoading(source) ? REFRESH_MS : null;
  const { data, error, refetch } = useRead(SOURCE, { params }, { everyMs });
  if (data !== undefined) return <OneSource source={data} />;
  return (
    <Page>
      <PageHeader title="Source" back={{ to: `/corpora/${corpusId}`, label: "Corpus" }} />
      {error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function OneSource({ source }: { readonly source: CorpusSource }) {
  const { corpusId, sourceId, name, stats } = source;
  const params = { corpus_id: corpusId, source_id: sourceId };
  const reload = useChange<null, unknown>(
    (api) => api.fetch("PATCH", SOURCE, { params, body: {} }),
    ["/api/corpora"],
  );
  const [shown, setShown] = useState<CorpusDocument | null>(null);
  const loading = isLoading(source);
  const everyMs = () => (loading ? REFRESH_MS : null);
  const documents = usePages(`${SOURCE}/documents`, { params }, { everyMs });
  const failures = usePages(`${SOURCE}/failures`, { params }, { everyMs });
  const stale = useStale();
  // What the end of the load has changed came after the last poll.
  useEffect(() => {
    if (!loading) void stale(`${SOURCE}/`);
  }, [loading, stale]);
  return (
    <Page>
      <PageHeader
        title={nameOf(name, sourceId)}
        back={{ to: `/corpora/${corpusId}`, label: "Corpus" }}
        lead={<Progress stats={stats} />}
        actions={
          <ScopedButton needs="admin" disabled={isLoading(source)} onClick={() => reload.mutate(null)}>
            Load again
          </ScopedButton>
        }
      />
      <Card title="Documents">
        <PagedTable
          label="Documents"
          pages={documents}
          columns={documentColumns(setShown)}
          keyOf={({ documentId }) => documentId}
          empty={
            <Empty icon={<FileStack aria-hidden="true" />} title="No documents yet">
              Documents are listed when they are loaded.
            </Empty>
          }
        />
      </Card>
      {(failures.rows?.length ?? 0) > 0 && (
        <Card title="Could not be loaded">
          <PagedTable
            label="Failures"
            pages={failures}
            columns={FAILURE_COLUMNS}
            keyOf={({ documentId, publicUrl, created }) => `${documentId ?? ""}${publicUrl ?? ""}${created}`}
            empty={null}
          />
        </Card>
      )}
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        wide
        title={titleOf(shown)}
        text="Its chunks, in order."
      >
        {shown !== null && <Chunks document={shown} />}
      </Dialog>
    </Page>
  );
}

function Progress({ stats }: Pick<CorpusSource, "stats">) {
  const { label, tone } = SOURCE_STATES[stats.status];
  return (
    <>
      <Badge tone={tone}>{label}</Badge> {countOf(stats.numDocs)} loaded
      {stats.lastUpdated === null ? (
        " so far"
      ) : (
        <>
          , last <When at={stats.lastUpdated} />
        </>
      )}
    </>
  );
}

function countOf(documents: number): string {
  return documents === 1 ? "1 document" : `${documents.toLocaleString()} documents`;
}

function titleOf(document: CorpusDocument | null): string {
  return document?.metadata.title ?? document?.metadata.publicUrl ?? document?.documentId ?? "";
}

function documentColumns(onShow: (document: CorpusDocument) => void): readonly Column<CorpusDocument>[] {
  return [
    { id: "title", label: "Title", cell: (document) => titleOf(document) },
    { id: "url", label: "Address", cell: ({ metadata }) => metadata.publicUrl ?? "–" },
    { id: "language", label: "Language", cell: ({ metadata }) => metadata.language ?? "–" },
    { id: "size", label: "Size", end: true, cell: ({ sizeBytes }) => sizeText(Number(sizeBytes)) },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: (document) => (
        <Button small onClick={() => onShow(document)}>
          Chunks
        </Button>
      ),
    },
  ];
}

const FAILURE_COLUMNS: readonly Column<CorpusFailure>[] = [
  {
    id: "what",
    label: "Document",
    cell: ({ publicUrl, fileName, documentId }) => publicUrl ?? fileName ?? documentId ?? "",
  },
  { id: "why", label: "Reason", cell: ({ message }) => message },
  { id: "code", label: "Code", cell: ({ code }) => <code>{code}</code> },
  { id: "when", label: "When", cell: ({ created }) => <When at={created} /> },
];
