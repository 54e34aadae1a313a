/** Lists of records, read page by page. */

import { ArrowDown, ArrowUp } from "lucide-react";
import type { Key, ReactNode } from "react";
import type { Pages } from "../data/pages.ts";
import { Button } from "./button.tsx";
import { classNames } from "./class-names.ts";
import { ErrorState, Loading } from "./states.tsx";
import styles from "./table.module.css";

export interface Column<Row> {
  readonly id: string;
  /** Of the head; on phones beside each value. */
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are compared from their last digit. */
  readonly end?: boolean;
  /** A menu or a button: without a label, at the end of the row. */
  readonly actions?: boolean;
  /** The service's name for sorting by this column; without one it cannot be sorted by. */
  readonly sort?: string;
}

export interface TableProps<Row> {
  /** Read aloud: what the rows are. */
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => Key;
  /** `-` in front sorts in descending order, as the service writes it. */
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
  /** In place of the table when there are no rows. */
  readonly empty: ReactNode;
}

/** A table over `usePages`, with its loading, empty and failed states and a button for more rows. */
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
          {rows.length} of {atLeast && "at least "}
          {total === null || total < rows.length ? rows.length : total.toLocaleString()}
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
