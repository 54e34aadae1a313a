/** The do-not-call list. */

import type { DoNotCallEntry } from "@parley/schema";
import { PhoneOff, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { ScopedButton } from "../scoped-buttons.tsx";
import { Page, PageHeader, SearchField, Toolbar } from "../../ui/display.tsx";
import { Confirm, Dialog } from "../../ui/dialog.tsx";
import { Form } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";
import { useSearchText } from "../search-text.ts";

const PATH = "/api/do_not_call";

export function DoNotCallScreen() {
  const search = useSearchText();
  const [adding, setAdding] = useState(false);
  const [doomed, setDoomed] = useState<string | null>(null);
  const pages = usePages(PATH, { query: search.wanted === "" ? {} : { search: search.wanted } });
  const add = (
    <ScopedButton needs="calls" kind="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden="true" /> Add number
    </ScopedButton>
  );
  const columns: readonly Column<DoNotCallEntry>[] = [
    { id: "number", label: "Number", cell: ({ number }) => <strong>{number}</strong> },
    { id: "note", label: "Note", cell: ({ note }) => note ?? "–" },
    { id: "created", label: "Added", cell: ({ created }) => <When at={created} /> },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: ({ number }) => (
        <IconButton
          label={`Remove ${number}`}
          icon={<Trash2 aria-hidden="true" />}
          small
          onClick={() => setDoomed(number)}
        />
      ),
    },
  ];
  return (
    <Page>
      <PageHeader
        title="Do-not-call list"
        back={{ to: "/batches", label: "Batches" }}
        lead="Batches skip these phone numbers and SIP addresses, unless you turn this off for a batch."
        actions={add}
      />
      <Toolbar>
        <SearchField label="Search numbers and notes" value={search.text} onChange={search.setText} />
      </Toolbar>
      <PagedTable
        label="Do-not-call list"
        pages={pages}
        columns={columns}
        keyOf={({ number }) => number}
        empty={<Nothing searched={search.wanted !== ""} add={add} />}
      />
      <Dialog
        open={adding}
        onClose={() => setAdding(false)}
        title="Add a number"
        text="If the number is already on the list, the new note replaces the old one."
      >
        <AddForm onDone={() => setAdding(false)} />
      </Dialog>
      <Remove number={doomed} onClose={() => setDoomed(null)} />
    </Page>
  );
}

function Nothing({ searched, add }: { readonly searched: boolean; readonly add: ReactNode }) {
  if (searched) return <Empty icon={<PhoneOff aria-hidden="true" />} title="No matching numbers" />;
  return (
    <Empty icon={<PhoneOff aria-hidden="true" />} title="No numbers yet" actions={add}>
      Add the phone numbers of people who do not want to be called.
    </Empty>
  );
}

function AddForm({ onDone }: { readonly onDone: () => void }) {
  const [number, setNumber] = useState("");
  const [note, setNote] = useState("");
  const toast = useToast();
  const add = useChange(
    (api, body: { readonly number: string; readonly note?: string }) => api.fetch("POST", PATH, { body }),
    [PATH],
  );
  const save = async () => {
    const entry = await add.mutateAsync({ number, ...(note.trim() === "" ? {} : { note: note.trim() }) });
    toast(`${entry.number} added.`);
    onDone();
  };
  return (
    <Form
      label="Number"
      action="Add number"
      onSave={save}
      onCancel={onDone}
      check={() => (number.trim() === "" ? [{ field: "number", message: "is required" }] : [])}
    >
      <TextField
        label="Number"
        path="number"
        hint="A phone number such as +4930123456, or a SIP address such as sip:ann@example.com."
        inputMode="tel"
        spellCheck={false}
        value={number}
        onChange={setNumber}
      />
      <TextField
        label="Note"
        aside="optional"
        path="note"
        hint="For example, who asked not to be called, and when."
        maxLength={240}
        value={note}
        onChange={setNote}
      />
    </Form>
  );
}

function Remove({ number, onClose }: { readonly number: string | null; readonly onClose: () => void }) {
  const toast = useToast();
  const remove = useChange(
    (api, of: string) => api.fetch("DELETE", `${PATH}/{number}`, { params: { number: of } }),
    [PATH],
  );
  return (
    <Confirm
      open={number !== null}
      onClose={onClose}
      title={`Remove ${number ?? ""}?`}
      text="Batches will be able to call this number again."
      action="Remove number"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(number ?? "");
        toast(`${number ?? ""} removed.`);
      }}
    />
  );
}
