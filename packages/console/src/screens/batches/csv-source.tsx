/** A table, and what its columns are for. */

import { useEffect, useMemo, useState } from "react";
import { Card } from "../../ui/display.tsx";
import { FieldMessage, Select, Switch, TextInput } from "../../ui/field.tsx";
import { useFieldError } from "../../ui/field-errors.tsx";
import { FileField } from "../../ui/file-field.tsx";
import { Columns, Note, Notice } from "../../ui/form.tsx";
import { ErrorState } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { SelectField, TextAreaField, TextField } from "../../ui/text-field.tsx";
import { type CallsSource, fileText, useTable } from "./calls-source.ts";
import {
  callOf,
  type ColumnMapping,
  guessColumn,
  type Mapping,
  mappingFaults,
  MEDIUMS,
  NAMED,
  TARGETS,
} from "./csv-mapping.ts";
import type { CsvTable } from "./csv-table.ts";
import styles from "./batches.module.css";

export function CsvSource({ onSource }: { readonly onSource: (source: CallsSource | null) => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [pasted, setPasted] = useState("");
  const read = useMemo(() => {
    if (file !== null) return () => fileText(file);
    return pasted.trim() === "" ? null : () => Promise.resolve({ text: pasted, remark: null });
  }, [file, pasted]);
  const table = useTable(read);
  const ready = table.kind === "done";
  useEffect(() => {
    if (!ready) onSource(null);
  }, [ready, onSource]);
  return (
    <>
      <Columns>
        <FileField label="File" path="file" accept=".csv,.tsv,.txt,text/csv" file={file} onChange={setFile} />
        <TextAreaField
          label="Or paste rows"
          aside="from a spreadsheet"
          path="calls"
          mono
          rows={3}
          spellCheck={false}
          disabled={file !== null}
          value={pasted}
          onChange={setPasted}
        />
      </Columns>
      {table.kind === "busy" && table.done > 0 && (
        <Note>Reading: {table.done.toLocaleString()} rows so far.</Note>
      )}
      {table.kind === "failed" && <ErrorState error={table.error} />}
      {table.kind === "done" && <Mapped table={table.value} onSource={onSource} />}
    </>
  );
}

interface MappedProps {
  readonly table: CsvTable;
  readonly onSource: (source: CallsSource | null) => void;
}

function Mapped({ table: { rows, remarks }, onSource }: MappedProps) {
  const [titled, setTitled] = useState(true);
  const titles = useMemo(() => titlesOf(rows, titled), [rows, titled]);
  const [mapping, setMapping] = useState<Mapping>(() => guessed(titles));
  // Another table, or other names: the guess is made anew.
  const [mappedFor, setMappedFor] = useState(titles);
  if (mappedFor !== titles) {
    setMappedFor(titles);
    setMapping((before) => ({ ...guessed(titles), from: before.from }));
  }
  useEffect(() => {
    const first = titled ? 1 : 0;
    onSource(
      rows.length <= first
        ? null
        : {
            count: rows.length - first,
            callAt: (index) => callOf(rows[index + first] ?? [], mapping),
            textAt: (index) => (rows[index + first] ?? []).join(" · "),
            placeAt: (index) => `Row ${(index + first + 1).toLocaleString()}`,
            faults: mappingFaults(mapping),
          },
    );
  }, [rows, titled, mapping, onSource]);
  if (rows.length === 0) return null;
  return (
    <>
      {remarks.length > 0 && (
        <Notice tone="warn">
          {remarks.map((remark) => (
            <div key={remark}>{remark}</div>
          ))}
        </Notice>
      )}
      <Switch label="The first row names the columns" checked={titled} onChange={setTitled} />
      <MappingFields titles={titles} mapping={mapping} onChange={setMapping} />
      <FirstRows titles={titles} rows={rows.slice(titled ? 1 : 0, (titled ? 1 : 0) + SHOWN_ROWS)} />
    </>
  );
}

const SHOWN_ROWS = 5;
/** Wider tables are seldom meant; all of their columns stay unused. */
const MAX_COLUMNS = 60;

function titlesOf(rows: CsvTable["rows"], titled: boolean): readonly string[] {
  const width = Math.min(
    rows.slice(0, 100).reduce((most, row) => Math.max(most, row.length), 0),
    MAX_COLUMNS,
  );
  return Array.from({ length: width }, (_, index) => (titled ? (rows[0]?.[index] ?? "") : ""));
}

function guessed(titles: readonly string[]): Mapping {
  const columns = titles.map((title): ColumnMapping => guessColumn(title));
  const dialled = columns.some(({ target }) => target === "to");
  return { columns, medium: dialled ? "telephony1" : "agent", from: "" };
}

interface MappingProps {
  readonly titles: readonly string[];
  readonly mapping: Mapping;
  readonly onChange: (mapping: Mapping) => void;
}

function MappingFields({ titles, mapping, onChange }: MappingProps) {
  const set = (index: number, column: ColumnMapping) =>
    onChange({ ...mapping, columns: mapping.columns.map((each, at) => (at === index ? column : each)) });
  return (
    <Card
      title="What the columns are for"
      text="Empty cells fill nothing. Dots in a name go inwards: guest.name."
    >
      <div className={styles.mapping}>
        {mapping.columns.map((column, index) => (
          <OneColumn
            key={`${String(index)} ${titles[index] ?? ""}`}
            title={titles[index] === "" ? `Column ${String(index + 1)}` : (titles[index] ?? "")}
            index={index}
            column={column}
            onChange={(changed) => set(index, changed)}
          />
        ))}
      </div>
      <Columns>
        <SelectField
          label="How they are called"
          path="medium"
          value={mapping.medium}
          choices={MEDIUMS}
          onChange={(medium) => onChange({ ...mapping, medium })}
        />
        <TextField
          label="Number that calls"
          aside="for all rows"
          path="from"
          hint="Where no column has one."
          inputMode="tel"
          spellCheck={false}
          value={mapping.from}
          onChange={(from) => onChange({ ...mapping, from })}
        />
      </Columns>
    </Card>
  );
}

interface OneColumnProps {
  readonly title: string;
  readonly index: number;
  readonly column: ColumnMapping;
  readonly onChange: (column: ColumnMapping) => void;
}

function OneColumn({ title, index, column, onChange }: OneColumnProps) {
  const message = useFieldError(`columns.${String(index)}`);
  return (
    <div className={styles.column} role="group" aria-label={`Column ${title}`}>
      <strong className={styles.columnTitle}>{title}</strong>
      <Select
        aria-label={`${title} fills`}
        {...(message === null ? {} : { "aria-invalid": true })}
        value={column.target}
        choices={TARGETS}
        onChange={(target) => onChange({ ...column, target })}
      />
      {NAMED.includes(column.target) && (
        <TextInput
          aria-label={`Name for ${title}`}
          spellCheck={false}
          value={column.name}
          placeholder={column.target === "medium" ? "sip.outgoing.username" : "name"}
          onChange={(event) => onChange({ ...column, name: event.target.value })}
        />
      )}
      {message !== null && <FieldMessage message={message} />}
    </div>
  );
}

interface FirstRow {
  readonly cells: readonly string[];
  readonly index: number;
}

function FirstRows({
  titles,
  rows,
}: {
  readonly titles: readonly string[];
  readonly rows: CsvTable["rows"];
}) {
  return (
    <Table
      label="First rows"
      rows={rows.map((cells, index) => ({ cells, index }))}
      keyOf={({ index }) => index}
      columns={titles.map((title, column) => ({
        id: String(column),
        label: title === "" ? `Column ${String(column + 1)}` : title,
        cell: ({ cells }: FirstRow) => cells[column] ?? "",
      }))}
    />
  );
}
