/** Where documents come from. The kind of a source stays. */

import { useState } from "react";
import { Field, Select, TextArea, TextInput } from "../../ui/field.tsx";
import { Columns, Fieldset, Form, Notice } from "../../ui/form.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { bodyOf, KINDS, type SourceDraft, sourceFaults } from "./source-draft.ts";

const MAX_START_URLS = 100;
const MAX_DOCUMENTS = 200;

export interface SourceFormProps {
  readonly initial: SourceDraft;
  readonly isNew: boolean;
  readonly onSave: (body: ReturnType<typeof bodyOf>) => Promise<unknown>;
  readonly onCancel: () => void;
}

interface PartProps {
  readonly draft: SourceDraft;
  readonly set: (changes: Partial<SourceDraft>) => void;
}

export function SourceForm({ initial, isNew, onSave, onCancel }: SourceFormProps) {
  const [draft, setDraft] = useState(initial);
  const set = (changes: Partial<SourceDraft>) => setDraft((before) => ({ ...before, ...changes }));
  return (
    <Form
      label="Source"
      action={isNew ? "Add source" : "Save source"}
      onCancel={onCancel}
      check={() => sourceFaults(draft)}
      onSave={() => onSave(bodyOf(draft))}
    >
      <Columns>
        <Field label="Name" aside="optional" path="name">
          <TextInput
            maxLength={200}
            value={draft.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        </Field>
        <Field label="Kind" hint={isNew ? undefined : "It stays as it is."}>
          <Select
            value={draft.kind}
            choices={KINDS}
            disabled={!isNew}
            onChange={(chosen) =>
              set({ kind: KINDS.find(({ value }) => value === chosen)?.value ?? "crawl" })
            }
          />
        </Field>
      </Columns>
      <Field label="Description" aside="optional" path="description">
        <TextInput value={draft.description} onChange={(event) => set({ description: event.target.value })} />
      </Field>
      {draft.kind === "crawl" && <CrawlFields draft={draft} set={set} />}
      {draft.kind !== "crawl" && (
        <Notice>
          Documents are named by the ids that their uploads are given. Uploads are not there yet (501), so
          such a source has nothing to load so far.
        </Notice>
      )}
      {draft.kind === "upload" && <UploadFields draft={draft} set={set} />}
      {draft.kind === "advanced" && <AdvancedFields draft={draft} set={set} />}
    </Form>
  );
}

function CrawlFields({ draft, set }: PartProps) {
  return (
    <>
      <Fieldset legend="Pages to begin with">
        <RowsEditor
          noun="address"
          rows={draft.startUrls}
          min={1}
          max={MAX_START_URLS}
          fresh={() => "https://"}
          onChange={(startUrls) => set({ startUrls })}
        >
          {(url, change, index) => (
            <Field label={`Address ${String(index + 1)}`} path={`crawl.startUrls.${String(index)}`}>
              <TextInput
                inputMode="url"
                spellCheck={false}
                value={url}
                onChange={(event) => change(event.target.value)}
              />
            </Field>
          )}
        </RowsEditor>
      </Fieldset>
      <LimitFields draft={draft} set={set} />
    </>
  );
}

function LimitFields({ draft, set }: PartProps) {
  return (
    <>
      <Columns>
        <Field label="Depth" aside="1 to 20" path="crawl.maxDepth" hint="1: only these pages.">
          <TextInput
            inputMode="numeric"
            value={draft.maxDepth}
            onChange={(event) => set({ maxDepth: event.target.value })}
          />
        </Field>
        <Field label="Documents" aside="1 to 200" path="crawl.maxDocuments">
          <TextInput
            inputMode="numeric"
            value={draft.maxDocuments}
            onChange={(event) => set({ maxDocuments: event.target.value })}
          />
        </Field>
        <Field
          label="Bytes of a document"
          aside="up to 10 MiB"
          path="crawl.maxDocumentBytes"
          hint="Larger ones are left out."
        >
          <TextInput
            inputMode="numeric"
            value={draft.maxDocumentBytes}
            onChange={(event) => set({ maxDocumentBytes: event.target.value })}
          />
        </Field>
      </Columns>
      <Columns>
        <Field
          label="Only types"
          aside="optional"
          path="crawl.relevantDocumentTypes.include.mimeTypes.0"
          hint="Such as text/html, application/pdf."
        >
          <TextInput
            spellCheck={false}
            value={draft.include}
            onChange={(event) => set({ include: event.target.value })}
          />
        </Field>
        <Field
          label="Not types"
          aside="optional"
          path="crawl.relevantDocumentTypes.exclude.mimeTypes.0"
          hint="Such as image/*."
        >
          <TextInput
            spellCheck={false}
            value={draft.exclude}
            onChange={(event) => set({ exclude: event.target.value })}
          />
        </Field>
      </Columns>
    </>
  );
}

function UploadFields({ draft, set }: PartProps) {
  return (
    <RowsEditor
      noun="document"
      rows={draft.documentIds}
      min={1}
      max={MAX_DOCUMENTS}
      fresh={() => ""}
      onChange={(documentIds) => set({ documentIds })}
    >
      {(id, change, index) => (
        <Field label={`Document ${String(index + 1)}`} path={`upload.documentIds.${String(index)}`}>
          <TextInput spellCheck={false} value={id} onChange={(event) => change(event.target.value)} />
        </Field>
      )}
    </RowsEditor>
  );
}

function AdvancedFields({ draft, set }: PartProps) {
  return (
    <RowsEditor
      noun="document"
      rows={draft.documents}
      min={1}
      max={MAX_DOCUMENTS}
      boxed
      fresh={() => ({ documentId: "", queries: "" })}
      onChange={(documents) => set({ documents })}
    >
      {(document, change, index) => (
        <Columns>
          <Field
            label={`Document ${String(index + 1)}`}
            path={`advanced.documents.${String(index)}.documentId`}
          >
            <TextInput
              spellCheck={false}
              value={document.documentId}
              onChange={(event) => change({ ...document, documentId: event.target.value })}
            />
          </Field>
          <Field label="Questions it answers" aside="one a line">
            <TextArea
              rows={3}
              value={document.queries}
              onChange={(event) => change({ ...document, queries: event.target.value })}
            />
          </Field>
        </Columns>
      )}
    </RowsEditor>
  );
}
