/** The calls of a batch, by state, with the reasons of failed ones. */

import type { CallMedium, ScheduledCall, ScheduledCallStatus } from "@parley/schema";
import { ListChecks, PhoneCall, RotateCw } from "lucide-react";
import { Link, useSearchParams } from "react-router";
import { useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Toolbar } from "../../ui/display.tsx";
import { Select } from "../../ui/field.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { StatusBadge } from "../call-status.tsx";
import { type BatchIds, STATUS_NAMES, STATUSES } from "./batch-state.ts";
import styles from "./batches.module.css";

const CALLS = "/api/agents/{agent_id}/scheduled_batches/{batch_id}/scheduled_calls";
const CREATED = "/api/agents/{agent_id}/scheduled_batches/{batch_id}/created_calls";

interface LiveProps {
  readonly params: BatchIds;
  /** Undefined: no polling, the batch has ended. */
  readonly everyMs: number | undefined;
}

export function Counts(props: LiveProps) {
  return (
    <dl className={styles.counts}>
      {STATUS_NAMES.map((status) => (
        <Count key={status} status={status} {...props} />
      ))}
    </dl>
  );
}

/** How many calls have the status; undefined while it is read. */
export function useCount(status: ScheduledCallStatus, { params, everyMs }: LiveProps): number | undefined {
  const { data } = useRead(
    CALLS,
    { params, query: { status, pageSize: 1 } },
    everyMs === undefined ? {} : { everyMs },
  );
  return data?.total;
}

function Count({ status, ...live }: LiveProps & { readonly status: ScheduledCallStatus }) {
  const count = useCount(status, live);
  return (
    <div className={styles.count}>
      <dt>
        <Badge tone={STATUSES[status].tone}>{STATUSES[status].label}</Badge>
      </dt>
      <dd className={status === "ERROR" && (count ?? 0) > 0 ? styles.failed : ""}>
        {count?.toLocaleString() ?? "…"}
      </dd>
    </div>
  );
}

const CHOICES = [
  { value: "", label: "All states" },
  ...STATUS_NAMES.map((status) => ({ value: status, label: STATUSES[status].label })),
];

/** The destination of a call, by its medium. */
export function calleeOf(medium: CallMedium | null): string {
  if (medium === null) return "Same as the agent";
  const dialled = [medium.telephony1, medium.telephony2, medium.telephony3, medium.sip].find(
    (each) => each?.outgoing !== undefined,
  );
  if (dialled !== undefined) return dialled.outgoing?.to ?? "–";
  return medium.serverWebSocket === undefined ? "WebRTC" : "WebSocket";
}

const COLUMNS: readonly Column<ScheduledCall & { readonly index: number }>[] = [
  { id: "to", label: "To", cell: ({ medium }) => calleeOf(medium) },
  {
    id: "status",
    label: "State",
    cell: ({ status }) => <Badge tone={STATUSES[status].tone}>{STATUSES[status].label}</Badge>,
  },
  { id: "context", label: "Variables", cell: ({ templateContext }) => <Short value={templateContext} /> },
  { id: "metadata", label: "Metadata", cell: ({ metadata }) => <Short value={metadata} /> },
  {
    id: "call",
    label: "Call",
    cell: ({ callId }) => (callId === null ? "–" : <Link to={`/calls/${callId}`}>{callId.slice(0, 8)}</Link>),
  },
  {
    id: "why",
    label: "Error",
    cell: (call) => <span className={call.error === null ? "" : styles.failed}>{reasonOf(call)}</span>,
  },
];

/** A call with an error may exist: its webhook request may have failed. */
function reasonOf({ status, error }: ScheduledCall): string {
  if (error !== null) return error;
  return status === "EXPIRED" ? "The end time passed before the call was created." : "–";
}

const SHOWN = 80;

function Short({ value }: { readonly value: object | null }) {
  if (value === null || Object.keys(value).length === 0) return "–";
  const text = JSON.stringify(value);
  return <code title={text}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</code>;
}

/** A batch can have a hundred thousand calls; the usual page has 20. */
const PAGE_SIZE = 100;

export function ScheduledCalls({ params, everyMs }: LiveProps) {
  const [search, setSearch] = useSearchParams();
  const status = STATUS_NAMES.find((name) => name === search.get("status"));
  const pages = usePages(
    CALLS,
    { params, query: { pageSize: PAGE_SIZE, ...(status === undefined ? {} : { status }) } },
    { everyMs: () => everyMs ?? null },
  );
  // Scheduled calls have no ids; their order is fixed.
  const rows = pages.rows?.map((call, index) => ({ ...call, index })) ?? null;
  const choose = (chosen: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (chosen === "") next.delete("status");
        else next.set("status", chosen);
        return next;
      },
      { replace: true },
    );
  return (
    <div className={styles.parts}>
      <Toolbar>
        <Select
          aria-label="State"
          className={styles.filter ?? ""}
          value={status ?? ""}
          choices={CHOICES}
          onChange={choose}
        />
        <Button small onClick={pages.retry}>
          <RotateCw aria-hidden="true" /> Refresh
        </Button>
      </Toolbar>
      <PagedTable
        label="Scheduled calls"
        pages={{ ...pages, rows }}
        columns={COLUMNS}
        keyOf={({ index }) => index}
        empty={
          <Empty icon={<ListChecks aria-hidden="true" />} title="No calls with this state">
            Choose another state to see other calls.
          </Empty>
        }
      />
    </div>
  );
}

export function CreatedCalls({ params, everyMs }: LiveProps) {
  const pages = usePages(CREATED, { params }, { everyMs: () => everyMs ?? null });
  return (
    <PagedTable
      label="Created calls"
      pages={pages}
      keyOf={({ callId }) => callId}
      columns={[
        {
          id: "call",
          label: "Call",
          cell: ({ callId }) => <Link to={`/calls/${callId}`}>{callId.slice(0, 8)}</Link>,
        },
        { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
        { id: "joined", label: "Joined", cell: ({ joined }) => <When at={joined} none="No" /> },
        { id: "ended", label: "Ended", cell: ({ ended }) => <When at={ended} none="Not yet" /> },
        { id: "status", label: "Status", cell: (call) => <StatusBadge call={call} /> },
      ]}
      empty={
        <Empty icon={<PhoneCall aria-hidden="true" />} title="No calls created yet">
          Calls appear here when they are created.
        </Empty>
      }
    />
  );
}
