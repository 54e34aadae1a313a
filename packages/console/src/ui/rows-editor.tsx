/** Lists in forms. Entries are added at the end and removed one by one. */

import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { Button, IconButton } from "./button.tsx";
import { classNames } from "./class-names.ts";
import styles from "./form.module.css";
import { TextField } from "./text-field.tsx";

export interface RowsEditorProps<Row> {
  /** The name of one entry, for the buttons: "parameter". */
  readonly noun: string;
  /** Of the button that adds an entry; otherwise "Add" and the noun. */
  readonly addLabel?: string;
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
  /** A new entry. */
  readonly fresh: () => Row;
  readonly max?: number | undefined;
  readonly min?: number | undefined;
  /** A frame around each entry, for entries of several lines. */
  readonly boxed?: boolean;
  readonly children: (row: Row, change: (row: Row) => void, index: number) => ReactNode;
}

export function RowsEditor<Row>(props: RowsEditorProps<Row>) {
  const {
    noun,
    addLabel = `Add ${noun}`,
    rows,
    onChange,
    fresh,
    max,
    min = 0,
    boxed = false,
    children,
  } = props;
  const list = useRef<HTMLDivElement>(null);
  const keys = useKeys(rows.length);
  const remove = (index: number) => {
    keys.remove(index);
    onChange(rows.filter((_, at) => at !== index));
    // The focused button is gone.
    list.current?.querySelector<HTMLElement>("[data-add]")?.focus();
  };
  return (
    <div ref={list} className={styles.rows}>
      {rows.map((row, index) => (
        <div key={keys.of(index)} className={classNames(styles.row, boxed && styles.boxed)}>
          {children(
            row,
            (changed) => onChange(rows.map((each, at) => (at === index ? changed : each))),
            index,
          )}
          {rows.length > min && (
            <IconButton
              label={`Remove ${noun} ${String(index + 1)}`}
              icon={<Trash2 aria-hidden="true" />}
              small
              onClick={() => remove(index)}
            />
          )}
        </div>
      ))}
      {(max === undefined || rows.length < max) && (
        <div>
          <Button small data-add="" onClick={() => onChange([...rows, fresh()])}>
            <Plus aria-hidden="true" /> {addLabel}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Entries have no ids, and positions change when one is removed. */
function useKeys(length: number) {
  const next = useRef(0);
  const keys = useRef<number[]>([]);
  while (keys.current.length < length) keys.current.push(next.current++);
  keys.current.length = length;
  return {
    of: (index: number) => keys.current[index] ?? index,
    remove: (index: number) => {
      keys.current.splice(index, 1);
    },
  };
}

export interface Pair {
  readonly name: string;
  readonly value: string;
}

export interface PairsEditorProps {
  readonly noun: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
  readonly nameLabel?: string;
  readonly valueLabel?: string;
  /** The path of the map in errors of the service. */
  readonly path?: string | undefined;
  /** The field that an error about an entry is shown at. Default: the name. */
  readonly faultAt?: "name" | "value";
}

/** A map from names to texts, such as request headers. */
export function PairsEditor({
  noun,
  pairs,
  onChange,
  nameLabel = "Name",
  valueLabel = "Value",
  path,
  faultAt = "name",
}: PairsEditorProps) {
  const pathAt = (field: "name" | "value", { name }: Pair): string | undefined =>
    path === undefined || field !== faultAt ? undefined : `${path}.${name}`;
  return (
    <RowsEditor noun={noun} rows={pairs} onChange={onChange} fresh={() => ({ name: "", value: "" })}>
      {(pair, change) => (
        <div className={styles.pair}>
          <TextField
            label={nameLabel}
            path={pathAt("name", pair)}
            spellCheck={false}
            value={pair.name}
            onChange={(name) => change({ ...pair, name })}
          />
          <TextField
            label={valueLabel}
            path={pathAt("value", pair)}
            spellCheck={false}
            value={pair.value}
            onChange={(value) => change({ ...pair, value })}
          />
        </div>
      )}
    </RowsEditor>
  );
}

/** Entries without a name are left out; undefined if none remain. */
export function mapOf(pairs: readonly Pair[]): Record<string, string> | undefined {
  const named = pairs.filter(({ name }) => name.trim() !== "");
  return named.length === 0
    ? undefined
    : Object.fromEntries(named.map(({ name, value }) => [name.trim(), value]));
}

export function pairsOf(map: Readonly<Record<string, string>> | undefined | null): readonly Pair[] {
  return Object.entries(map ?? {}).map(([name, value]) => ({ name, value }));
}
