/** The form of a source. Its kind cannot change. */

import { useState } from "react";
import { Columns, Fieldset, Form, Notice } from "../../ui/form.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/text-field.tsx";
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
        <TextField
          label="Name"
          aside="optional"
          path="name"
          maxLength={200}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <SelectField
          label="Type"
          hint={isNew ? undefined : "You cannot change the type."}
          value={draft.kind}
          choices={KINDS}
          disabled={!isNew}
          onChange={(kind) => set({ kind })}
        />
      </Columns>
      <TextField
        label="Description"
        aside="optional"
        path="description"
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      {draft.kind === "crawl" && <CrawlFields draft={draft} set={set} />}
      {draft.kind !== "crawl" && <Notice>Preview: documents cannot be uploaded yet.</Notice>}
      {draft.kind === "upload" && <UploadFields draft={draft} set={set} />}
      {draft.kind === "advanced" && <AdvancedFields draft={draft} set={set} />}
    </Form>
  );
}

function CrawlFields({ draft, set }: PartProps) {
  return (
    <>
      <Fieldset legend="Start pages">
        <RowsEditor
          noun="URL"
          rows={draft.startUrls}
          min={1}
          max={MAX_START_URLS}
          fresh={() => "https://"}
          onChange={(startUrls) => set({ startUrls })}
        >
          {(url, change, index) => (
            <TextField
              label={`URL ${String(index + 1)}`}
              path={`crawl.startUrls.${String(index)}`}
              inputMode="url"
              spellCheck={false}
              value={url}
              onChange={change}
            />
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
        <TextField
          label="Link depth"
          aside="1 to 20"
          path="crawl.maxDepth"
          hint="1 loads only the start pages."
          inputMode="numeric"
          value={draft.maxDepth}
          onChange={(maxDepth) => set({ maxDepth })}
        />
        <TextField
          label="Maximum documents"
          aside="1 to 200"
          path="crawl.maxDocuments"
          inputMode="numeric"
          value={draft.maxDocuments}
          onChange={(maxDocuments) => set({ maxDocuments })}
        />
        <TextField
          label="Maximum document size"
          aside="bytes, up to 10 MiB"
          path="crawl.maxDocumentBytes"
          hint="Larger documents are skipped."
          inputMode="numeric"
          value={draft.maxDocumentBytes}
          onChange={(maxDocumentBytes) => set({ maxDocumentBytes })}
        />
      </Columns>
      <Columns>
        <TextField
          label="Include types"
          aside="optional"
          path="crawl.relevantDocumentTypes.include.mimeTypes.0"
          hint="For example, text/html, application/pdf."
          spellCheck={false}
          value={draft.include}
          onChange={(include) => set({ include })}
        />
        <TextField
          label="Exclude types"
          aside="optional"
          path="crawl.relevantDocumentTypes.exclude.mimeTypes.0"
          hint="For example, image/*."
          spellCheck={false}
          value={draft.exclude}
          onChange={(exclude) => set({ exclude })}
        />
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
        <TextField
          label={`Document ${String(index + 1)}`}
          path={`upload.documentIds.${String(index)}`}
          spellCheck={false}
          value={id}
          onChange={change}
        />
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
          <TextField
            label={`Document ${String(index + 1)}`}
            path={`advanced.documents.${String(index)}.documentId`}
            spellCheck={false}
            value={document.documentId}
            onChange={(documentId) => change({ ...document, documentId })}
          />
          <TextAreaField
            label="Example questions"
            aside="one per line"
            rows={3}
            value={document.queries}
            onChange={(queries) => change({ ...document, queries })}
          />
        </Columns>
      )}
    </RowsEditor>
  );
}
