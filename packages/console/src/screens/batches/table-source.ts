/** Calls from the rows of a table. */

import type { FieldFault } from "../../ui/field-errors.tsx";
import type { CallsSource } from "./calls-source.ts";
import { callOf, type ColumnMapping, guessColumn, type Mapping, mappingFaults } from "./csv-mapping.ts";
import type { CsvTable } from "./csv-table.ts";

/** Wider tables are usually a mistake. */
export const MAX_COLUMNS = 60;
/** For a table without column names: its width. */
const ROWS_LOOKED_AT = 100;

export interface TableColumns {
  /** Titles of the usable columns. */
  readonly titles: readonly string[];
  /** Width with the unusable columns. */
  readonly width: number;
}

/** `titled`: the first row has column names. */
export function columnsOf(rows: CsvTable["rows"], titled: boolean): TableColumns {
  const looked = titled ? rows.slice(0, 1) : rows.slice(0, ROWS_LOOKED_AT);
  const width = looked.reduce((most, row) => Math.max(most, row.length), 0);
  const titles = Array.from({ length: Math.min(width, MAX_COLUMNS) }, (_, index) =>
    titled ? (rows[0]?.[index] ?? "") : "",
  );
  return { titles, width };
}

/** The mapping guessed from the column names. */
export function guessMapping(titles: readonly string[]): Mapping {
  const columns = titles.map((title): ColumnMapping => guessColumn(title, false));
  return { columns, medium: "agent", from: "" };
}

/** Null if no row has a call. */
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

/** Warns of rows with too many cells, such as a cell split by an unquoted comma. */
function widthFaults(cells: readonly string[], width: number): readonly FieldFault[] {
  if (cells.length <= width || cells.slice(width).every((cell) => cell.trim() === "")) return [];
  const message = `has ${String(cells.length)} cells, but the table has ${String(width)} columns: check the quotes of its cells`;
  return [{ field: "", message }];
}
