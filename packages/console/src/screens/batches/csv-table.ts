/** Files of rows and columns as spreadsheets write them. */

import Papa from "papaparse";
import { inSlices } from "./slices.ts";

export interface CsvTable {
  /** Those that have any text. */
  readonly rows: readonly (readonly string[])[];
  /** Of each of them, its row in the spreadsheet, from 1. */
  readonly numbers: readonly number[];
  /** What is odd about the file, in sentences. */
  readonly remarks: readonly string[];
}

/** Some milliseconds of work. */
const ROWS_PER_STEP = 500;
/** As many calls as a batch has at most, the names of the columns, and one to see that there are too many. */
export const MAX_ROWS = 100_002;
/** Odd places that are told. */
const MAX_REMARKS = 5;

/** Rows without any text are left out. */
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

/** A first row by which spreadsheets tell each other what stands between cells. */
const SEPARATOR_ROW = /^sep=(.)\r?\n/i;

interface Format {
  readonly delimiter: string;
  readonly newline: "\r" | "\n" | "\r\n";
}

/** The fast way cuts all that is left into lines each time. */
const PARSING = { fastMode: false } as const;

/** Told by the first rows, of which those without text tell nothing. */
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
