/** Reads CSV files as spreadsheets write them. */

import Papa from "papaparse";
import { inSlices } from "./slices.ts";

export interface CsvTable {
  /** The rows with text. */
  readonly rows: readonly (readonly string[])[];
  /** For each row, its number in the spreadsheet, from 1. */
  readonly numbers: readonly number[];
  /** Warnings about the file, in sentences. */
  readonly remarks: readonly string[];
}

/** Characters per slice: a few milliseconds of work. */
const ROWS_PER_STEP = 500;
/** The most calls of a batch, the column names, and one more row to detect that there are too many. */
export const MAX_ROWS = 100_002;
/** Most warnings that are shown. */
const MAX_REMARKS = 5;

/** Rows without text are skipped. */
export async function readCsv(
  text: string,
  signal: AbortSignal,
  onRows?: (rows: number) => void,
): Promise<CsvTable> {
  const table = { rows: [], numbers: [], remarks: [] };
  await inSlices(stepsOf(text, table), signal, () => onRows?.(table.rows.length));
  return table;
}

interface TableInMaking {
  readonly rows: (readonly string[])[];
  readonly numbers: number[];
  readonly remarks: string[];
}

/** A first row with which spreadsheets declare the separator. */
const SEPARATOR_ROW = /^sep=(.)\r?\n/i;

interface Format {
  readonly delimiter: string;
  readonly newline: "\r" | "\n" | "\r\n";
}

/** The fast parser splits all of the remaining text into lines each time. */
const PARSING = { fastMode: false } as const;

/** Guesses the separator by the first rows with text. */
function formatOf(text: string): Format {
  const { meta } = Papa.parse(text, { ...PARSING, preview: 1, skipEmptyLines: "greedy" });
  return { delimiter: meta.delimiter, newline: meta.linebreak };
}

function* stepsOf(text: string, { rows, numbers, remarks }: TableInMaking): Generator<void> {
  const [separatorRow = "", separator] = SEPARATOR_ROW.exec(text) ?? [];
  let rest = text.slice(separatorRow.length);
  let read = separatorRow === "" ? 0 : 1;
  const format = {
    ...PARSING,
    ...formatOf(rest),
    ...(separator === undefined ? {} : { delimiter: separator }),
  };
  for (let more = true; more && rows.length < MAX_ROWS;) {
    const { data, errors, meta } = Papa.parse(rest, { ...format, preview: ROWS_PER_STEP });
    for (const [index, cells] of data.entries()) {
      if (rows.length === MAX_ROWS || cells.every((cell) => cell.trim() === "")) continue;
      rows.push(cells);
      numbers.push(read + index + 1);
    }
    for (const { message, row = 0 } of errors) {
      if (remarks.length >= MAX_REMARKS) break;
      remarks.push(`Row ${String(read + row + 1)}: ${message}.`);
    }
    more = meta.truncated && meta.cursor > 0;
    read += data.length;
    rest = rest.slice(meta.cursor);
    yield;
  }
}
