/** A table of engines with what calls have used of them. */

import type { Cost, EngineUse } from "@parley/schema";
import { Badge } from "../ui/display.tsx";
import { Table, type Column } from "../ui/table.tsx";
import { costText, kindText, latencyText, totalText, usedText } from "./engine-use-words.ts";
import styles from "./engine-table.module.css";

/** Of one call, or over many. */
export type EngineRow = Omit<EngineUse, "medianLatency"> & {
  readonly typicalLatency: string | null;
  readonly currency: string | null;
};

const COLUMNS: readonly Column<EngineRow>[] = [
  {
    id: "engine",
    label: "Engine",
    cell: ({ kind, engine, model }) => (
      <span className={styles.engine}>
        <strong>{engine}</strong>
        <span className={styles.soft}>
          {kindText(kind)}
          {model !== null && model !== engine && `, ${model}`}
        </span>
      </span>
    ),
  },
  {
    id: "requests",
    label: "Requests",
    end: true,
    cell: ({ requests, failures, dropped }) => (
      <span>
        {requests.toLocaleString()}
        {dropped > 0 && <span className={styles.soft}> ({dropped.toLocaleString()} dropped)</span>}
        {failures > 0 && (
          <>
            {" "}
            <Badge tone="bad">{failures.toLocaleString()} failed</Badge>
          </>
        )}
      </span>
    ),
  },
  {
    id: "latency",
    label: "Typical / worst latency",
    end: true,
    cell: ({ typicalLatency, maxLatency }) => latencyText(typicalLatency, maxLatency),
  },
  { id: "used", label: "Used", cell: usedText },
  {
    id: "cost",
    label: "Cost",
    end: true,
    cell: ({ cost, currency, unpricedRequests }) => (
      <span>
        {cost === null || currency === null ? "–" : costText(cost, currency)}
        {unpricedRequests > 0 && (
          <span className={styles.soft}> (without {unpricedRequests.toLocaleString()} requests)</span>
        )}
      </span>
    ),
  },
];

export interface EngineTableProps {
  readonly label: string;
  readonly rows: readonly EngineRow[];
  /** One for each currency; empty without prices. */
  readonly costs: readonly Cost[];
}

export function EngineTable({ label, rows, costs }: EngineTableProps) {
  const priced = rows.some(({ currency }) => currency !== null);
  return (
    <>
      <Table
        label={label}
        rows={rows}
        columns={priced ? COLUMNS : COLUMNS.filter(({ id }) => id !== "cost")}
        keyOf={({ kind, engine, provider, model, currency }) =>
          [kind, engine, provider, model, currency].join("\n")
        }
      />
      {costs.map((cost) => (
        <p key={cost.currency} className={styles.total}>
          {totalText(cost)}
        </p>
      ))}
    </>
  );
}
