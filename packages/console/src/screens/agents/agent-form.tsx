/** The form of an agent: its sections or the whole template as JSON, and the save bar. */

import { TriangleAlert } from "lucide-react";
import { type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from "react";
import { useBlocker } from "react-router";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Card } from "../../ui/display.tsx";
import {
  FieldErrors,
  type FieldFault,
  faultsOf,
  FieldWarnings,
  type Warnings,
} from "../../ui/field-errors.tsx";
import { Notice } from "../../ui/form.tsx";
import { JsonEditor } from "../../ui/json-editor.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { TextField } from "../../ui/text-field.tsx";
import styles from "./agents.module.css";
import { ConnectionSection, LimitsSection } from "./call-sections.tsx";
import { type Draft, DraftContext, errorPath } from "./draft-context.tsx";
import { isObject, isSame, type Json, withValueAt } from "./draft.ts";
import { SectionCard, SectionNav } from "./section-nav.tsx";
import layout from "./section-nav.module.css";
import { type Mark, marksOf, type SectionId } from "./sections.ts";
import { SilenceSection, ToolsSection } from "./list-sections.tsx";
import { OpeningSection, PromptSection, TurnsSection, VoiceSection } from "./talking-sections.tsx";
import { useUnknownNames } from "./unknown-names.ts";

export const MAX_NAME_LENGTH = 64;

export interface AgentDocument {
  readonly name: string;
  readonly template: Json;
}

export interface AgentFormProps {
  /** The stored document; null for a new agent. */
  readonly stored: AgentDocument | null;
  /** The initial values. */
  readonly initial: AgentDocument;
  /** `hasUnknown` resolves to whether calls with the document will be refused for a name that does not exist. */
  readonly save: (document: AgentDocument, hasUnknown: Promise<boolean>) => Promise<void>;
  /** An additional view beside the form. */
  readonly about?: ReactNode;
}

export function AgentForm({ stored, initial, save, about }: AgentFormProps) {
  const [document, setDocument] = useState(initial);
  const [invalid, setInvalid] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const { warnings, hasUnknown } = useUnknownNames(document.template);
  const marks = useMemo(
    () =>
      marksOf(
        [...faultsOf(error).map(({ field }) => field), ...[...invalid].map(errorPath)],
        warnings.keys(),
      ),
    [error, invalid, warnings],
  );
  const dirty = !isSame(document, stored ?? { name: "", template: {} });

  const draft = useMemo<Draft>(
    () => ({
      template: document.template,
      set: (path, value) =>
        setDocument((before) => ({ ...before, template: withValueAt(before.template, path, value) })),
      setValid: (path, valid) => setInvalid((before) => withMember(before, path, !valid)),
    }),
    [document.template],
  );
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      await save({ ...document, name: document.name.trim() }, hasUnknown(document.template));
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <FieldErrors error={error}>
      {(rest) => (
        <DraftContext value={draft}>
          <FieldWarnings value={warnings}>
            <form
              className={styles.form}
              noValidate
              onSubmit={(event) => {
                event.preventDefault();
                if (!busy && invalid.size === 0) void submit();
              }}
            >
              <Views document={document} onChange={setDocument} about={about} marks={marks} />
              {error !== null && <Refusal error={error} rest={rest} />}
              <SaveBar
                dirty={dirty}
                isNew={stored === null}
                busy={busy}
                invalid={invalid.size > 0}
                warnings={warnings}
                onUndo={() => {
                  setDocument(stored ?? initial);
                  setError(null);
                }}
              />
            </form>
          </FieldWarnings>
          <Guard dirty={dirty && !busy} />
        </DraftContext>
      )}
    </FieldErrors>
  );
}

function withMember(before: ReadonlySet<string>, member: string, isIn: boolean): ReadonlySet<string> {
  if (before.has(member) === isIn) return before;
  const next = new Set(before);
  if (isIn) next.add(member);
  else next.delete(member);
  return next;
}

interface ViewsProps {
  readonly document: AgentDocument;
  readonly onChange: (document: AgentDocument) => void;
  readonly about: ReactNode;
  readonly marks: ReadonlyMap<SectionId, Mark>;
}

function Views({ document, onChange, about, marks }: ViewsProps) {
  const name = (
    <SectionCard id="general">
      <TextField
        label="Name"
        path="name"
        aside={`up to ${String(MAX_NAME_LENGTH)} characters`}
        value={document.name}
        maxLength={MAX_NAME_LENGTH}
        placeholder="Leave empty to generate a name"
        onChange={(name) => onChange({ ...document, name })}
      />
    </SectionCard>
  );
  const form = (
    <div className={layout.layout}>
      <SectionNav marks={marks} />
      <div className={styles.form}>
        {name}
        <PromptSection />
        <OpeningSection />
        <VoiceSection />
        <TurnsSection />
        <SilenceSection />
        <ToolsSection />
        <LimitsSection />
        <ConnectionSection />
      </div>
    </div>
  );
  const tabs = [
    { id: "form", label: "Form", content: form },
    { id: "json", label: "JSON", content: <WholeTemplate document={document} onChange={onChange} /> },
  ];
  return (
    <Tabs
      label="Agent"
      tabs={about === undefined ? tabs : [...tabs, { id: "about", label: "About", content: about }]}
    />
  );
}

function WholeTemplate({ document, onChange }: Pick<ViewsProps, "document" | "onChange">) {
  const [error, setError] = useState<string | null>(null);
  const warnings = useContext(FieldWarnings);
  return (
    <Card title="Call template" text="The settings of the form as JSON, in the format of the API.">
      <JsonEditor
        label="Call template as JSON"
        path="callTemplate"
        rows={28}
        value={document.template}
        onChange={(value) => {
          const usable = value === undefined || isObject(value);
          setError(usable ? null : "Must be a JSON object.");
          if (usable) onChange({ ...document, template: isObject(value) ? value : {} });
        }}
      />
      {error !== null && <p role="alert">{error}</p>}
      {[...warnings].map(([field, warning]) => (
        <Notice key={field} tone="warn">
          <code>{field}</code>: {warning}
        </Notice>
      ))}
    </Card>
  );
}

/** Errors that are shown at their fields are counted; others are listed. */
function Refusal({ error, rest }: { readonly error: unknown; readonly rest: readonly FieldFault[] }) {
  return <ErrorState error={error} faults={rest} />;
}

interface SaveBarProps {
  readonly dirty: boolean;
  readonly isNew: boolean;
  readonly busy: boolean;
  readonly invalid: boolean;
  readonly warnings: Warnings;
  readonly onUndo: () => void;
}

function SaveBar({ dirty, isNew, busy, invalid, warnings, onUndo }: SaveBarProps) {
  const state = invalid
    ? "A field contains invalid JSON."
    : isNew
      ? "Not saved yet."
      : dirty
        ? "Unsaved changes."
        : "All changes saved.";
  return (
    <div className={styles.bar}>
      <Refusals warnings={warnings} />
      <span className={styles.state} role="status">
        {state}
      </span>
      <div className={styles.buttons}>
        {dirty && !isNew && <Button onClick={onUndo}>Discard changes</Button>}
        <Button kind="primary" type="submit" busy={busy} disabled={invalid || (!dirty && !isNew)}>
          {isNew ? "Create agent" : "Save"}
        </Button>
      </div>
    </div>
  );
}

/** Fields that the bar names; the sentences are at the fields. */
const MAX_NAMED = 3;

/** Always in sight, because the field of a warning may not be. */
function Refusals({ warnings }: { readonly warnings: Warnings }) {
  const fields = [...warnings.keys()].map((field) => field.replace(/^callTemplate\./, ""));
  const more = fields.length - MAX_NAMED;
  const none = fields.length === 0;
  return (
    <div className={none ? styles.noRefusals : styles.refusals}>
      {!none && <TriangleAlert aria-hidden="true" />}
      <span role="status">
        {!none && (
          <>
            Calls with this agent will fail. Check{" "}
            {fields.slice(0, MAX_NAMED).map((field, index) => (
              <span key={field}>
                {index > 0 && ", "}
                <code>{field}</code>
              </span>
            ))}
            {more > 0 && ` and ${String(more)} more`}.
          </>
        )}
      </span>
    </div>
  );
}

/** Asks before unsaved changes are lost, by a link or by closing the page. */
function Guard({ dirty }: { readonly dirty: boolean }) {
  const blocker = useBlocker(
    useCallback(
      ({
        currentLocation,
        nextLocation,
      }: {
        currentLocation: { pathname: string };
        nextLocation: { pathname: string };
      }) => dirty && currentLocation.pathname !== nextLocation.pathname,
      [dirty],
    ),
  );
  useEffect(() => {
    if (!dirty) return undefined;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [dirty]);
  return (
    <Confirm
      open={blocker.state === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      text="Your changes to this agent will be lost."
      action="Leave"
      dangerous
      onConfirm={() => blocker.proceed?.()}
    />
  );
}
