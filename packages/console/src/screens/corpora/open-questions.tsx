/** Questions that a corpus could not answer: what its documents lack. */

import type { CorpusOpenQuestion } from "@parley/schema";
import { MessageCircleQuestionMark, Trash2 } from "lucide-react";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Card } from "../../ui/display.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";

const PATH = "/api/corpora/{corpus_id}/open_questions";

const COLUMNS: readonly Column<CorpusOpenQuestion>[] = [
  { id: "question", label: "Question", cell: ({ question }) => question },
  { id: "asked", label: "Asked", end: true, cell: ({ asked }) => asked.toLocaleString() },
  { id: "score", label: "Best score", end: true, cell: ({ bestScore }) => bestScore.toFixed(2) },
  { id: "last", label: "Last asked", cell: ({ lastAsked }) => <When at={lastAsked} /> },
];

export function OpenQuestions({ corpusId }: { readonly corpusId: string }) {
  const [deleting, setDeleting] = useState(false);
  const toast = useToast();
  const params = { corpus_id: corpusId };
  const pages = usePages(PATH, { params });
  const remove = useChange<null, unknown>((api) => api.fetch("DELETE", PATH, { params }), [PATH]);
  const isEmpty = (pages.rows?.length ?? 0) === 0;
  return (
    <Card
      title="Unanswered questions"
      text="Questions of the last 30 days for which no passage was a likely answer. Add documents that answer them."
      actions={
        !isEmpty && (
          <ScopedButton needs="admin" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden="true" /> Delete all
          </ScopedButton>
        )
      }
    >
      <PagedTable
        label="Unanswered questions"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ question }) => question}
        empty={
          <Empty icon={<MessageCircleQuestionMark aria-hidden="true" />} title="No unanswered questions">
            Questions of callers and of this page are listed here.
          </Empty>
        }
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete all unanswered questions?"
        text="You cannot undo this."
        action="Delete questions"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(null);
          toast("Questions deleted.");
        }}
      />
    </Card>
  );
}
