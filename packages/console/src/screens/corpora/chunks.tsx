/** The chunks of a document. */

import type { CorpusChunk, CorpusDocument } from "@parley/schema";
import { usePages } from "../../data/pages.ts";
import { CodeBlock } from "../../ui/parts.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";

const CHUNKS = "/api/corpora/{corpus_id}/sources/{source_id}/documents/{document_id}/chunks";

const COLUMNS: readonly Column<CorpusChunk>[] = [
  { id: "position", label: "No.", cell: ({ position }) => position + 1 },
  { id: "page", label: "Page", cell: ({ page }) => page ?? "–" },
  { id: "headings", label: "Headings", cell: ({ headingPath }) => headingPath.join(" › ") },
  {
    id: "text",
    label: "Text",
    cell: ({ text, position }) => <CodeBlock label={`Chunk ${String(position + 1)}`}>{text}</CodeBlock>,
  },
  { id: "tokens", label: "Tokens", end: true, cell: ({ tokens }) => tokens },
];

export function Chunks({ document }: { readonly document: CorpusDocument }) {
  const { corpusId, sourceId, documentId } = document;
  const params = { corpus_id: corpusId, source_id: sourceId, document_id: documentId };
  return (
    <PagedTable
      label="Chunks"
      pages={usePages(CHUNKS, { params })}
      columns={COLUMNS}
      keyOf={({ chunkId }) => chunkId}
      empty={<p>The document is not loaded yet.</p>}
    />
  );
}
