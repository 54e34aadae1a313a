/** The form of a source. Its kind cannot change. */

import { useState } from "react";
import { Columns, Fieldset, Form } from "../../ui/form.tsx";
import { RowsEditor } from "../../ui/rows-editor.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/text-field.tsx";
import { DropFiles } from "./drop-files.tsx";
import styles from "./drop-files.module.css";
import { bodyOf, KINDS, type SourceDraft, sourceFaults, uploadedIn, withDocument } from "./source-draft.ts";

const MAX_START_URLS = 100;
const MAX_DOCUMENTS = 200;

export interface SourceFormProps {
  readonly initial: SourceDraft;
  readonly isNew: boolean;
  readonly corpusId: string;
  readonly onSave: (body: ReturnType<typeof bodyOf>) => Promise<unknown>;
  readonly onCancel: () => void;
}

interface PartProps {
  readonly draft: SourceDraft;
  readonly set: (changes: Partial<SourceDraft>) => void;
}

export function SourceForm({ initial, isNew, corpusId, onSave, onCancel }: SourceFormProps) {
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
      {draft.kind !== "crawl" && (
        <DropFiles
          corpusId={corpusId}
          room={MAX_DOCUMENTS - uploadedIn(draft)}
          onUploaded={({ documentId, name }) =>
            setDraft((before) =>
              withDocument({ ...before, names: { ...before.names, [documentId]: name } }, documentId),
            )
          }
        />
      )}
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

/** A document that was uploaded here has a name; others are named by their ids. */
function DocumentField({
  id,
  index,
  path,
  draft,
  onChange,
}: {
  readonly id: string;
  readonly index: number;
  readonly path: string;
  readonly draft: SourceDraft;
  readonly onChange: (id: string) => void;
}) {
  const name = draft.names[id];
  if (name !== undefined) return <p className={styles.file}>{name}</p>;
  return (
    <TextField
      label={`Document ${String(index + 1)}`}
      aside="its ID"
      path={path}
      spellCheck={false}
      value={id}
      onChange={onChange}
    />
  );
}

const BY_ID = "Add document by its ID";

function UploadFields({ draft, set }: PartProps) {
  return (
    <RowsEditor
      noun="document"
      addLabel={BY_ID}
      rows={draft.documentIds}
      max={MAX_DOCUMENTS}
      fresh={() => ""}
      onChange={(documentIds) => set({ documentIds })}
    >
      {(id, change, index) => (
        <DocumentField
          id={id}
          index={index}
          path={`upload.documentIds.${String(index)}`}
          draft={draft}
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
      addLabel={BY_ID}
      rows={draft.documents}
      max={MAX_DOCUMENTS}
      boxed
      fresh={() => ({ documentId: "", queries: "" })}
      onChange={(documents) => set({ documents })}
    >
      {(document, change, index) => (
        <Columns>
          <DocumentField
            id={document.documentId}
            index={index}
            path={`advanced.documents.${String(index)}.documentId`}
            draft={draft}
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
