/** The list of deleted calls. */

import type { DeletedCall } from "@parley/schema";
import { Trash2 } from "lucide-react";
import { Link, useSearchParams } from "react-router";
import { usePages } from "../../data/pages.ts";
import { Badge, Toolbar } from "../../ui/display.tsx";
import { TextInput } from "../../ui/field.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { filtersOf, queryOf, withFilters } from "./call-filters.ts";
import { clockOf, durationMsOf, endOf } from "./call-words.ts";
import styles from "./calls.module.css";

const COLUMNS: readonly Column<DeletedCall>[] = [
  {
    id: "call",
    label: "Call",
    cell: ({ callId }) => (
      <Link to={`/calls/${callId}`}>
        <code>{callId}</code>
      </Link>
    ),
  },
  {
    id: "end",
    label: "End reason",
    cell: ({ endReason }) => {
      if (endReason === null) return "–";
      const { text, tone } = endOf(endReason);
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    id: "duration",
    label: "Duration",
    end: true,
    cell: (call) => {
      const ms = call.ended === null ? null : durationMsOf(call, Date.parse(call.ended));
      return ms === null ? "–" : clockOf(ms);
    },
  },
  { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
  { id: "deleted", label: "Deleted", cell: ({ deletionTime }) => <When at={deletionTime} /> },
];

export function DeletedCalls() {
  const [address, setAddress] = useSearchParams();
  const { from, to } = filtersOf(address);
  // Only the time can be filtered, because all other fields are deleted.
  const { fromDate, toDate } = queryOf(filtersOf(new URLSearchParams({ from, to })));
  const pages = usePages("/api/deleted_calls", {
    query: { ...(fromDate === undefined ? {} : { fromDate }), ...(toDate === undefined ? {} : { toDate }) },
  });
  const set = (changes: { readonly from?: string; readonly to?: string }) =>
    setAddress((before) => withFilters(before, changes), { replace: true });
  return (
    <div className={styles.list}>
      <Toolbar>
        <label className={styles.day}>
          <span>Created from</span>
          <TextInput type="date" value={from} onChange={(event) => set({ from: event.target.value })} />
        </label>
        <label className={styles.day}>
          <span>to</span>
          <TextInput type="date" value={to} onChange={(event) => set({ to: event.target.value })} />
        </label>
      </Toolbar>
      <PagedTable
        label="Deleted calls"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ callId }) => callId}
        empty={
          <Empty icon={<Trash2 aria-hidden="true" />} title="No deleted calls">
            When you delete a call, its times and end reason are kept here.
          </Empty>
        }
      />
    </div>
  );
}
