/** The figures of a chart as a table, for screen readers and exact values. */

import { useState } from "react";
import { Button } from "../button.tsx";
import { type Column, Table } from "../table.tsx";
import styles from "./chart.module.css";

export interface FiguresTableProps {
  readonly label: string;
  readonly at: readonly number[];
  readonly momentText: (seconds: number) => string;
  readonly valueText: (value: number) => string;
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[];
}

/** Rows per page. */
const ROWS = 50;

/** Newest first; times without calls are left out. */
export function FiguresTable({ label, at, momentText, valueText, series }: FiguresTableProps) {
  const [shown, setShown] = useState(ROWS);
  const filled = at
    .map((seconds, index) => ({ seconds, index }))
    .filter(({ index }) => series.some(({ values }) => (values[index] ?? 0) > 0))
    .toReversed();
  const columns: Column<(typeof filled)[number]>[] = [
    { id: "at", label: "Time (UTC)", cell: ({ seconds }) => momentText(seconds) },
    ...series.map(({ label: name, values }) => ({
      id: name,
      label: name,
      end: true,
      cell: ({ index }: (typeof filled)[number]) => valueText(values[index] ?? 0),
    })),
  ];
  return (
    <details className={styles.details}>
      <summary>Show as table</summary>
      <div className={styles.table}>
        <Table
          label={label}
          rows={filled.slice(0, shown)}
          columns={columns}
          keyOf={({ seconds }) => seconds}
        />
      </div>
      <p className={styles.small}>
        {filled.length === 0 ? "No data." : "Only times with data are shown."}{" "}
        {filled.length > shown && (
          <Button small onClick={() => setShown((before) => before + ROWS)}>
            Show more of {filled.length.toLocaleString()}
          </Button>
        )}
      </p>
    </details>
  );
}
