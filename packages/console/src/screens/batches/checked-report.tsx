/** What was found in the calls of a new batch, before and after the service was asked. */

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
  /** Whether bad rows are left out. */
  readonly without: boolean;
  readonly onWithout: (without: boolean) => void;
}

export function CheckedReport({ source, checked, without, onWithout }: ReportProps) {
  if (source.faults.length > 0) return <Before faults={source.faults} />;
  if (checked.kind === "none") return null;
  if (checked.kind === "busy")
    return <Bar label="Calls that are checked" done={checked.done} total={source.count} />;
  if (checked.kind === "failed") return <ErrorState error={checked.error} />;
  const { texts, badCount, bad } = checked.value;
  const [first] = texts;
  return (
    <div className={styles.parts}>
      <div role="status">
        <Inline>
          <Badge tone="good">{texts.length.toLocaleString()} good</Badge>
          {badCount > 0 && <Badge tone="bad">{badCount.toLocaleString()} bad</Badge>}
        </Inline>
      </div>
      {badCount > 0 && (
        <>
          <Switch
            label="Leave the bad ones out"
            hint="One bad call would have the service refuse the batch."
            checked={without}
            onChange={onWithout}
          />
          <BadCalls label="Bad calls" source={source} bad={bad} />
          {badCount > MAX_BAD_SHOWN && <p>The first {MAX_BAD_SHOWN} of them are shown.</p>}
        </>
      )}
      {first !== undefined && (
        <details className={styles.details}>
          <summary>The first call as it is sent</summary>
          <CodeBlock label="The first call">{JSON.stringify(JSON.parse(first), null, 2)}</CodeBlock>
        </details>
      )}
    </div>
  );
}

const FIELDS: Readonly<Record<string, string>> = {
  calls: "Calls",
  medium: "How they are called",
  from: "Number that calls",
};

function nameOf(field: string): string {
  const column = /^columns\.(\d+)$/.exec(field)?.[1];
  return column === undefined ? (FIELDS[field] ?? field) : `Column ${String(Number(column) + 1)}`;
}

/** What would make every row a bad one. */
function Before({ faults }: { readonly faults: readonly FieldFault[] }) {
  return (
    <Notice tone="warn">
      Rows are checked when this is put right:
      <ul className={styles.faults}>
        {faults.map(({ field, message }) => (
          <li key={`${field} ${message}`}>
            {nameOf(field)}: {message}
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
        { id: "place", label: "Where", cell: ({ index }) => source.placeAt(index) },
        {
          id: "faults",
          label: "What is wrong",
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
          label: "As given",
          cell: ({ index }) => (
            <span className={styles.given}>{source.textAt(index).slice(0, SHOWN_LETTERS)}</span>
          ),
        },
      ]}
    />
  );
}

/** Tells the form that this fault has its place. */
function SaidHere({ path }: { readonly path: string }) {
  useFieldError(path);
  return null;
}
