/** Files of rows and columns as spreadsheets write them. */

import Papa from "papaparse";
import { inSlices } from "./slices.ts";

export interface CsvTable {
  readonly rows: readonly (readonly string[])[];
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
  const rows: (readonly string[])[] = [];
  const remarks: string[] = [];
  await inSlices(stepsOf(text, rows, remarks), signal, () => onRows?.(rows.length));
  return { rows, remarks };
}

function* stepsOf(text: string, rows: (readonly string[])[], remarks: string[]): Generator<void> {
  let rest = text;
  let found: { readonly delimiter?: string; readonly newline?: "\r" | "\n" | "\r\n" } = {};
  for (let more = true; more && rows.length < MAX_ROWS;) {
    // The fast way cuts all that is left into lines each time.
    const { data, errors, meta } = Papa.parse(rest, {
      ...found,
      preview: ROWS_PER_STEP,
      fastMode: false,
      skipEmptyLines: "greedy",
    });
    const before = rows.length;
    rows.push(...data);
    for (const { type, message, row = 0 } of errors) {
      // A file of one column has nothing between its columns.
      if (type === "Delimiter" || remarks.length >= MAX_REMARKS) continue;
      remarks.push(`Row ${String(before + row + 1)}: ${message}.`);
    }
    found = { delimiter: meta.delimiter, newline: meta.linebreak };
    more = meta.truncated && meta.cursor > 0;
    rest = rest.slice(meta.cursor);
    yield;
  }
  rows.splice(MAX_ROWS);
}

export interface ReadText {
  readonly text: string;
  readonly remark: string | null;
}

/** Files are UTF-8; what is not comes from an older spreadsheet of Western Europe. */
export function textOf(bytes: ArrayBuffer): ReadText {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), remark: null };
  } catch {
    return {
      text: new TextDecoder("windows-1252").decode(bytes),
      remark:
        "The file is not UTF-8 and was read as Windows-1252: look whether names with accents are right.",
    };
  }
}
