/** A table as the source of calls, with the mapping of its columns. */

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
import { type ColumnMapping, type Mapping, MEDIUMS, NAMED, TARGETS, withMedium } from "./csv-mapping.ts";
import type { CsvTable } from "./csv-table.ts";
import { columnsOf, guessMapping, MAX_COLUMNS, tableSource } from "./table-source.ts";
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
          label="Or paste rows from a spreadsheet"
          path="calls"
          mono
          rows={3}
          spellCheck={false}
          disabled={file !== null}
          value={pasted}
          onChange={setPasted}
        />
      </Columns>
      {table.kind === "busy" && table.done > 0 && <Note>{table.done.toLocaleString()} rows read.</Note>}
      {table.kind === "failed" && <ErrorState error={table.error} />}
      {table.kind === "done" && <Mapped table={table.value} onSource={onSource} />}
    </>
  );
}

interface MappedProps {
  readonly table: CsvTable;
  readonly onSource: (source: CallsSource | null) => void;
}

function Mapped({ table, onSource }: MappedProps) {
  const { rows, remarks } = table;
  const [titled, setTitled] = useState(true);
  const columns = useMemo(() => columnsOf(rows, titled), [rows, titled]);
  const { titles, width } = columns;
  const [mapping, setMapping] = useState<Mapping>(() => guessMapping(titles));
  // A new table or new names: guess the mapping again.
  const [mappedFor, setMappedFor] = useState(titles);
  if (mappedFor !== titles) {
    setMappedFor(titles);
    setMapping((before) => ({ ...guessMapping(titles), from: before.from }));
  }
  useEffect(
    () => onSource(tableSource(table, titled, columns, mapping)),
    [table, titled, columns, mapping, onSource],
  );
  if (rows.length === 0) return <Notice tone="warn">The file is empty.</Notice>;
  const first = titled ? 1 : 0;
  return (
    <>
      {remarks.length > 0 && (
        <Notice tone="warn">
          {remarks.map((remark) => (
            <div key={remark}>{remark}</div>
          ))}
        </Notice>
      )}
      <Switch label="First row contains column names" checked={titled} onChange={setTitled} />
      {rows.length <= first && <Notice tone="warn">The table has no rows below the column names.</Notice>}
      {width > titles.length && (
        <Notice tone="warn">
          The table has {width} columns. Only the first {MAX_COLUMNS} can be used.
        </Notice>
      )}
      <MappingFields titles={titles} mapping={mapping} onChange={setMapping} />
      <FirstRows titles={titles} rows={rows.slice(first, first + SHOWN_ROWS)} />
    </>
  );
}

const SHOWN_ROWS = 5;

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
      title="Columns"
      text="Choose what each column is used for. Empty cells are ignored. Use dots for nested variables, for example guest.name."
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
          label="Medium"
          path="medium"
          value={mapping.medium}
          choices={MEDIUMS}
          onChange={(medium) => onChange(withMedium(mapping, medium, titles))}
        />
        <TextField
          label="Caller number"
          path="from"
          hint="Used for rows without a caller number. Phone and SIP only."
          inputMode="tel"
          spellCheck={false}
          value={mapping.from}
          onChange={(from) => onChange({ ...mapping, from })}
        />
      </Columns>
      {mapping.medium === "sip" && (
        <Notice tone="warn">
          SIP calls need the setting SIP_HOST of the service. Without it, a call over SIP pauses the batch.
        </Notice>
      )}
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
        aria-label={`Use ${title} as`}
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
