/** The source of calls for a new batch: rows of a table or entries of a JSON document. */

import { useEffect, useMemo, useState } from "react";
import type { FieldFault } from "../../ui/field-errors.tsx";
import { type CheckedCalls, checkCalls, type UncheckedCalls } from "./check-calls.ts";
import { type CsvTable, readCsv } from "./csv-table.ts";
import { type ReadText, textOf } from "./file-text.ts";

export interface CallsSource extends UncheckedCalls {
  /** The entry in the source, on one line. */
  readonly textAt: (index: number) => string;
  /** The place of a call for people: its row in the spreadsheet, its position in the list. */
  readonly placeAt: (index: number) => string;
  /** Errors that concern all calls, found before single calls are checked. */
  readonly faults: readonly FieldFault[];
}

export type Progress<Value> =
  | { readonly kind: "none" }
  | { readonly kind: "busy"; readonly done: number }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "done"; readonly value: Value };

/** Longer files are larger than any batch and would use up the page's memory. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

type Start<Value> = (signal: AbortSignal, tell: (done: number) => void) => Promise<Value>;

/** The page stays responsive meanwhile. */
const TYPING_MS = 300;

/** Runs a long task and aborts it when another one starts. `start` must be stable for the same input. */
function useProgress<Value>(start: Start<Value> | null): Progress<Value> {
  const [state, setState] = useState<{
    readonly of: Start<Value>;
    readonly progress: Progress<Value>;
  } | null>(null);
  useEffect(() => {
    if (start === null) return undefined;
    const stop = new AbortController();
    const tell = (progress: Progress<Value>) => {
      if (!stop.signal.aborted) setState({ of: start, progress });
    };
    const timer = setTimeout(() => {
      start(stop.signal, (done) => tell({ kind: "busy", done })).then(
        (value) => tell({ kind: "done", value }),
        (error: unknown) => tell({ kind: "failed", error }),
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [start]);
  if (start === null) return { kind: "none" };
  return state !== null && state.of === start ? state.progress : { kind: "busy", done: 0 };
}

export async function fileText(file: File): Promise<ReadText> {
  if (file.size > MAX_FILE_BYTES)
    throw new Error("The file has more than 64 MiB; a batch has at most 32 MiB.");
  return textOf(await file.arrayBuffer());
}

/** `read` is null without input. */
export function useTable(read: (() => Promise<ReadText>) | null): Progress<CsvTable> {
  const start = useMemo<Start<CsvTable> | null>(() => {
    if (read === null) return null;
    return async (signal, tell) => {
      const { text, remark } = await read();
      const table = await readCsv(text, signal, tell);
      return remark === null ? table : { ...table, remarks: [remark, ...table.remarks] };
    };
  }, [read]);
  return useProgress(start);
}

/** Checks the calls whenever they change, if no error concerns all of them. */
export function useChecked(source: CallsSource | null): Progress<CheckedCalls> {
  const start = useMemo<Start<CheckedCalls> | null>(() => {
    if (source === null || source.count === 0 || source.faults.length > 0) return null;
    return (signal, tell) => checkCalls(source, signal, tell);
  }, [source]);
  return useProgress(start);
}
