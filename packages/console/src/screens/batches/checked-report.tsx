/** The errors in the calls of a new batch, found here or by the service. */

import { Badge } from "../../ui/display.tsx";
import { Switch } from "../../ui/field.tsx";
import { type FieldFault, useFieldError } from "../../ui/field-errors.tsx";
import { Notice } from "../../ui/form.tsx";
import { Inline, CodeBlock, Progress as Bar } from "../../ui/parts.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import type { CallsSource, Progress } from "./calls-source.ts";
import { type BadCall, type CheckedCalls, MAX_BAD_SHOWN } from "./check-calls.ts";
import { pathOfRefused } from "./refused-calls.ts";
import styles from "./batches.module.css";

export interface ReportProps {
  readonly source: CallsSource;
  readonly checked: Progress<CheckedCalls>;
  /** Whether bad calls are skipped. */
  readonly without: boolean;
  readonly onWithout: (without: boolean) => void;
}

export function CheckedReport({ source, checked, without, onWithout }: ReportProps) {
  if (source.faults.length > 0) return <Before faults={source.faults} />;
  if (checked.kind === "none") return null;
  if (checked.kind === "busy") return <Bar label="Checked calls" done={checked.done} total={source.count} />;
  if (checked.kind === "failed") return <ErrorState error={checked.error} />;
  const { texts, badCount, bad } = checked.value;
  const [first] = texts;
  return (
    <div className={styles.parts}>
      <div role="status">
        <Inline>
          <Badge tone="good">{texts.length.toLocaleString()} valid</Badge>
          {badCount > 0 && <Badge tone="bad">{badCount.toLocaleString()} with errors</Badge>}
        </Inline>
      </div>
      {badCount > 0 && (
        <>
          <Switch
            label="Skip calls with errors"
            hint="Otherwise, the batch cannot be created."
            checked={without}
            onChange={onWithout}
          />
          <BadCalls label="Calls with errors" source={source} bad={bad} />
          {badCount > MAX_BAD_SHOWN && <p>Showing the first {MAX_BAD_SHOWN}.</p>}
        </>
      )}
      {first !== undefined && (
        <details className={styles.details}>
          <summary>Preview of the first call</summary>
          <CodeBlock label="The first call">{JSON.stringify(JSON.parse(first), null, 2)}</CodeBlock>
        </details>
      )}
    </div>
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  calls: "Calls",
  medium: "Medium",
  from: "Caller number",
};

function nameOf(field: string): string {
  const column = /^columns\.(\d+)$/.exec(field)?.[1];
  return column === undefined ? (FIELDS[field] ?? field) : `Column ${String(Number(column) + 1)}`;
}

/** Errors that concern all rows. */
function Before({ faults }: { readonly faults: readonly FieldFault[] }) {
  return (
    <Notice tone="warn">
      Fix the following to check the rows:
      <ul className={styles.faults}>
        {faults.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            {nameOf(field)} {message}
          </li>
        ))}
      </ul>
    </Notice>
  );
}

const SHOWN_LETTERS = 120;

interface BadCallsProps {
  readonly label: string;
  readonly source: CallsSource;
  readonly bad: readonly BadCall[];
}

export function BadCalls({ label, source, bad }: BadCallsProps) {
  return (
    <Table
      label={label}
      rows={bad}
      keyOf={({ index }) => index}
      columns={[
        { id: "place", label: "Row", cell: ({ index }) => source.placeAt(index) },
        {
          id: "faults",
          label: "Error",
          cell: ({ faults, position }) => (
            <ul className={styles.faults}>
              {faults.map((fault) => (
                <li key={`${fault.field} ${fault.message}`}>
                  <code>{fault.field}</code> {fault.message}
                  {position !== undefined && <SaidHere path={pathOfRefused(position, fault)} />}
                </li>
              ))}
            </ul>
          ),
        },
        {
          id: "text",
          label: "Content",
          cell: ({ index }) => (
            <span className={styles.given}>{source.textAt(index).slice(0, SHOWN_LETTERS)}</span>
          ),
        },
      ]}
    />
  );
}

/** Marks an error as shown, so that the form does not repeat it. */
function SaidHere({ path }: { readonly path: string }) {
  useFieldError(path);
  return null;
}
