/** The calls of a table, row by row. */

import type { FieldFault } from "../../ui/field-errors.tsx";
import type { CallsSource } from "./calls-source.ts";
import { callOf, type ColumnMapping, guessColumn, type Mapping, mappingFaults } from "./csv-mapping.ts";
import type { CsvTable } from "./csv-table.ts";

/** Wider tables are seldom meant. */
export const MAX_COLUMNS = 60;
/** Of a table whose columns have no names: its width. */
const ROWS_LOOKED_AT = 100;

export interface TableColumns {
  /** Of those that can be used. */
  readonly titles: readonly string[];
  /** With those that cannot. */
  readonly width: number;
}

/** `titled`: the first row names the columns. */
export function columnsOf(rows: CsvTable["rows"], titled: boolean): TableColumns {
  const looked = titled ? rows.slice(0, 1) : rows.slice(0, ROWS_LOOKED_AT);
  const width = looked.reduce((most, row) => Math.max(most, row.length), 0);
  const titles = Array.from({ length: Math.min(width, MAX_COLUMNS) }, (_, index) =>
    titled ? (rows[0]?.[index] ?? "") : "",
  );
  return { titles, width };
}

/** What the names of the columns say. */
export function guessMapping(titles: readonly string[]): Mapping {
  const columns = titles.map((title): ColumnMapping => guessColumn(title));
  const dialled = columns.some(({ target }) => target === "to");
  return { columns, medium: dialled ? "telephony1" : "agent", from: "" };
}

/** Null: there is no row with a call. */
export function tableSource(
  { rows, numbers }: CsvTable,
  titled: boolean,
  { width }: TableColumns,
  mapping: Mapping,
): CallsSource | null {
  const first = titled ? 1 : 0;
  if (rows.length <= first) return null;
  const cellsAt = (index: number) => rows[index + first] ?? [];
  return {
    count: rows.length - first,
    callAt: (index) => callOf(cellsAt(index), mapping),
    textAt: (index) => cellsAt(index).join(" · "),
    placeAt: (index) => `Row ${(numbers[index + first] ?? 0).toLocaleString()}`,
    faultsAt: (index) => widthFaults(cellsAt(index), width),
    faults: mappingFaults(mapping),
  };
}

/** Nobody sees that a cell was cut in two by a comma of its own, unless it is said. */
function widthFaults(cells: readonly string[], width: number): readonly FieldFault[] {
  if (cells.length <= width || cells.slice(width).every((cell) => cell.trim() === "")) return [];
  const message = `has text in ${String(cells.length)} cells, and there are ${String(width)} columns: is a cell without its quotes?`;
  return [{ field: "", message }];
}
