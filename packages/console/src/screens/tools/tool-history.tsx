/** The calls that had a tool available. */

import type { RowOf } from "@parley/client/rest";
import { History } from "lucide-react";
import { Link } from "react-router";
import { usePages } from "../../data/pages.ts";
import { Badge } from "../../ui/display.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { StatusBadge } from "../call-status.tsx";

type Row = RowOf<"/api/tools/{tool_id}/history">;

const COLUMNS: readonly Column<Row>[] = [
  {
    id: "call",
    label: "Call",
    cell: ({ call }) => (
      <Link to={`/calls/${call.callId}`}>
        <When at={call.created} />
      </Link>
    ),
  },
  { id: "agent", label: "Agent", cell: ({ call }) => call.agent?.name ?? "–" },
  { id: "status", label: "Status", cell: ({ call }) => <StatusBadge call={call} /> },
  {
    id: "errors",
    label: "Failures",
    end: true,
    cell: ({ errorCount }) =>
      errorCount === 0 ? "None" : <Badge tone="bad">{errorCount.toLocaleString()}</Badge>,
  },
];

export function ToolHistory({ toolId }: { readonly toolId: string }) {
  const pages = usePages("/api/tools/{tool_id}/history", { params: { tool_id: toolId } });
  return (
    <PagedTable
      label="Calls with this tool"
      pages={pages}
      columns={COLUMNS}
      keyOf={({ call }) => call.callId}
      empty={
        <Empty icon={<History aria-hidden="true" />} title="No calls yet">
          Calls of agents with this tool appear here.
        </Empty>
      }
    />
  );
}
