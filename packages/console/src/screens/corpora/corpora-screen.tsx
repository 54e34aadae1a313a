/** Documents that agents can search, in corpora. */

import type { Corpus, CorpusWrite } from "@parley/schema";
import { LibraryBig, Plus } from "lucide-react";
import { useState } from "react";
import { Link, useNavigate } from "react-router";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader } from "../../ui/display.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { TextAreaField, TextField } from "../../ui/text-field.tsx";
import { CORPUS_STATES, nameOf } from "./source-draft.ts";

const PATH = "/api/corpora";

export function CorpusBadge({ corpus }: { readonly corpus: Corpus }) {
  const { label, tone } = CORPUS_STATES[corpus.stats.status];
  return <Badge tone={tone}>{label}</Badge>;
}

const COLUMNS: readonly Column<Corpus>[] = [
  {
    id: "name",
    label: "Name",
    cell: ({ corpusId, name }) => <Link to={`/corpora/${corpusId}`}>{nameOf(name, corpusId)}</Link>,
  },
  { id: "description", label: "Description", cell: ({ description }) => description ?? "–" },
  { id: "status", label: "State", cell: (corpus) => <CorpusBadge corpus={corpus} /> },
  { id: "docs", label: "Documents", end: true, cell: ({ stats }) => stats.numDocs.toLocaleString() },
  { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
];

export function CorporaScreen() {
  const pages = usePages(PATH, {});
  const [making, setMaking] = useState(false);
  const go = useNavigate();
  const make = useChange((api, body: CorpusWrite) => api.fetch("POST", PATH, { body }), [PATH]);
  const create = (
    <ScopedButton needs="admin" kind="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden="true" /> New corpus
    </ScopedButton>
  );
  return (
    <Page>
      <PageHeader title="Knowledge base" lead="Documents that agents can search." actions={create} />
      <PagedTable
        label="Corpora"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ corpusId }) => corpusId}
        empty={
          <Empty icon={<LibraryBig aria-hidden="true" />} title="No corpora yet" actions={create}>
            A corpus is a collection of web pages and documents on one subject, such as a price list or a
            manual.
          </Empty>
        }
      />
      <Dialog
        open={making}
        onClose={() => setMaking(false)}
        title="New corpus"
        text="You add its sources in the next step."
      >
        <CorpusForm
          name=""
          description=""
          action="Create corpus"
          onCancel={() => setMaking(false)}
          onSave={async (name, description) => {
            const corpus = await make.mutateAsync({
              ...(name === "" ? {} : { name }),
              ...(description === "" ? {} : { description }),
            });
            await go(`/corpora/${corpus.corpusId}`);
          }}
        />
      </Dialog>
    </Page>
  );
}

export interface CorpusFormProps {
  readonly name: string;
  readonly description: string;
  readonly action: string;
  readonly onSave: (name: string, description: string) => Promise<unknown>;
  readonly onCancel?: () => void;
}

export function CorpusForm({
  name: firstName,
  description: firstText,
  action,
  onSave,
  onCancel,
}: CorpusFormProps) {
  const [name, setName] = useState(firstName);
  const [description, setDescription] = useState(firstText);
  return (
    <Form
      label="Corpus"
      action={action}
      onCancel={onCancel}
      onSave={() => onSave(name.trim(), description.trim())}
    >
      <TextField label="Name" aside="optional" path="name" maxLength={200} value={name} onChange={setName} />
      <TextAreaField
        label="Description"
        aside="optional"
        path="description"
        hint="What the documents are about."
        rows={3}
        value={description}
        onChange={setDescription}
      />
    </Form>
  );
}
