/** Tables of records, loaded page by page. */

import { ArrowDown, ArrowUp } from "lucide-react";
import type { Key, ReactNode } from "react";
import type { Pages } from "../data/pages.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { ErrorState, Loading } from "./states.tsx";
import styles from "./table.module.css";

export interface Column<Row> {
  readonly id: string;
  /** The column header; on phones beside each value. */
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Right-aligned, for numbers. */
  readonly end?: boolean;
  /** A menu or button at the end of the row, without a visible header. */
  readonly actions?: boolean;
  /** The field to sort by in requests; without it the column is not sortable. */
  readonly sort?: string;
}

export interface TableProps<Row> {
  /** The name of the table, for screen readers. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => Key;
  /** A leading `-` sorts in descending order, as in the API. */
  readonly sort?: string;
  readonly onSort?: (sort: string) => void;
}

export function Table<Row>({ label, rows, columns, keyOf, sort, onSort }: TableProps<Row>) {
  return (
    <div className={styles.frame}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.id} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td
                  key={column.id}
                  className={classNames(column.end && styles.end, column.actions && styles.actions)}
                  {...(column.actions === true ? {} : { "data-label": column.label })}
                >
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps<Row> {
  readonly column: Column<Row>;
  readonly sort: string | undefined;
  readonly onSort: ((sort: string) => void) | undefined;
}

function Head<Row>({ column, sort, onSort }: HeadProps<Row>) {
  const { label, sort: field, end, actions } = column;
  if (actions === true) return <td aria-hidden="true" className={styles.actions} />;
  const direction = sort === field ? "ascending" : sort === `-${field ?? ""}` ? "descending" : null;
  const sortable = field !== undefined && onSort !== undefined;
  return (
    <th
      scope="col"
      className={classNames(end && styles.end)}
      {...(sortable ? { "aria-sort": direction ?? "none" } : {})}
    >
      {sortable ? (
        <button
          type="button"
          className={styles.sort}
          onClick={() => onSort(direction === "ascending" ? `-${field}` : field)}
        >
          {label}
          {direction === "ascending" && <ArrowUp aria-hidden="true" />}
          {direction === "descending" && <ArrowDown aria-hidden="true" />}
        </button>
      ) : (
        label
      )}
    </th>
  );
}

export interface PagedTableProps<Row> extends Omit<TableProps<Row>, "rows"> {
  readonly pages: Pages<Row>;
  /** Replaces the table without rows. */
  readonly empty: ReactNode;
}

/** A table for `usePages`, with loading, empty and error states and a button for more rows. */
export function PagedTable<Row>({ pages, empty, ...table }: PagedTableProps<Row>) {
  const { rows, total, atLeast, error, retry, more, loadingMore } = pages;
  if (rows === null) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={retry} />;
  }
  if (rows.length === 0 && more === null) return empty;
  return (
    <div>
      <Table {...table} rows={rows} />
      {error !== null && <ErrorState error={error} retry={retry} />}
      <div className={styles.foot}>
        <span role="status">
          {rows.length} of {Math.max(total ?? 0, rows.length).toLocaleString()}
          {atLeast && "+"}
        </span>
        {more !== null && (
          <Button small busy={loadingMore} onClick={more}>
            Show more
          </Button>
        )}
      </div>
    </div>
  );
}
