/** Numbers that no scheduled call dials. */

import type { DoNotCallEntry } from "@parley/schema";
import { PhoneOff, Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button, IconButton } from "../../ui/button.tsx";
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
    <Button kind="primary" onClick={() => setAdding(true)}>
      <Plus aria-hidden="true" /> Add number
    </Button>
  );
  const columns: readonly Column<DoNotCallEntry>[] = [
    { id: "number", label: "Number", cell: ({ number }) => <strong>{number}</strong> },
    { id: "note", label: "Note", cell: ({ note }) => note ?? "–" },
    { id: "created", label: "Since", cell: ({ created }) => <When at={created} /> },
    {
      id: "actions",
      label: "Actions",
      actions: true,
      cell: ({ number }) => (
        <IconButton
          label={`Take ${number} off the list`}
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
        lead="Numbers and SIP addresses that batches leave out, unless a batch says otherwise."
        actions={add}
      />
      <Toolbar>
        <SearchField label="Search numbers and notes" value={search.text} onChange={search.setText} />
      </Toolbar>
      <PagedTable
        label="Numbers that are not called"
        pages={pages}
        columns={columns}
        keyOf={({ number }) => number}
        empty={<Nothing searched={search.wanted !== ""} add={add} />}
      />
      <Dialog
        open={adding}
        onClose={() => setAdding(false)}
        title="Add a number"
        text="One that is on the list already takes the new note."
      >
        <AddForm onDone={() => setAdding(false)} />
      </Dialog>
      <Remove number={doomed} onClose={() => setDoomed(null)} />
    </Page>
  );
}

function Nothing({ searched, add }: { readonly searched: boolean; readonly add: ReactNode }) {
  if (searched) return <Empty icon={<PhoneOff aria-hidden="true" />} title="No number matches" />;
  return (
    <Empty icon={<PhoneOff aria-hidden="true" />} title="Every number may be called" actions={add}>
      Put the numbers of people here who asked not to be called again.
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
    toast(`${entry.number} is not called by batches any more.`);
    onDone();
  };
  return (
    <Form
      label="Number"
      action="Add number"
      onSave={save}
      onCancel={onDone}
      check={() => (number.trim() === "" ? [{ field: "number", message: "must not be empty" }] : [])}
    >
      <TextField
        label="Number"
        path="number"
        hint="Such as +4930123456, or a SIP address such as sip:ann@example.com."
        inputMode="tel"
        spellCheck={false}
        value={number}
        onChange={setNumber}
      />
      <TextField
        label="Note"
        aside="optional"
        path="note"
        hint="Why: who asked for it, and when."
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
      title={`Take ${number ?? ""} off the list?`}
      text="Batches may call this number again from then on."
      action="Take it off"
      dangerous
      onConfirm={async () => {
        await remove.mutateAsync(number ?? "");
        toast(`${number ?? ""} may be called again.`);
      }}
    />
  );
}
