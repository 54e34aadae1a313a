/** All calls of the account, and the records of deleted calls. */

import type { Call } from "@parley/schema";
import { Disc, MoreHorizontal, PhoneCall, PhoneOutgoing, Trash2 } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { Link, type SetURLSearchParams, useSearchParams } from "react-router";
import { usePages } from "../../data/pages.ts";
import { ButtonLink, IconButton } from "../../ui/button.tsx";
import { Badge, Page, PageHeader } from "../../ui/display.tsx";
import { Menu, MenuLink } from "../../ui/menu.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty, VisuallyHidden } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { ScopedLink, ScopedMenuItem } from "../scoped-buttons.tsx";
import { useSearchText } from "../search-text.ts";
import {
  type CallFilters,
  filtersOf,
  isFiltered,
  queryOf,
  SORTS,
  sortsFor,
  withFilters,
} from "./call-filters.ts";
import { clockOf, durationMsOf, msOf, nameOf, shortLength } from "./call-words.ts";
import { WithErrors } from "./call-head.tsx";
import { DeleteCall } from "./delete-call.tsx";
import { DeletedCalls } from "./deleted-calls.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { mediumText, phoneStatusOf } from "./phone/phone-facts.ts";
import styles from "./calls.module.css";

/** Polling intervals: shorter while calls are running. */
const RUNNING_MS = 3_000;
const QUIET_MS = 15_000;

export function CallsScreen() {
  return (
    <Page>
      <PageHeader
        title="Calls"
        lead="Review the conversation, recording and events of each call."
        actions={
          <ScopedLink needs="calls" to="/calls/new">
            <PhoneOutgoing aria-hidden="true" /> Place a call
          </ScopedLink>
        }
      />
      <Tabs
        label="Lists of calls"
        parameter="list"
        tabs={[
          { id: "calls", label: "Calls", content: <CallList /> },
          { id: "deleted", label: "Deleted", content: <DeletedCalls /> },
        ]}
      />
    </Page>
  );
}

const COLUMNS: readonly Column<Call>[] = [
  { id: "call", label: "Call", cell: (call) => <Title call={call} /> },
  {
    id: "status",
    label: "Status",
    sort: "endReason",
    cell: (call) => {
      const { text, tone } = phoneStatusOf(call);
      return (
        <>
          <Badge tone={tone}>{text}</Badge> <WithErrors call={call} />
        </>
      );
    },
  },
  {
    id: "caller",
    label: "Caller",
    cell: ({ caller }) => <span className={styles.caller}>{caller ?? "–"}</span>,
  },
  { id: "medium", label: "Medium", cell: mediumText },
  {
    id: "duration",
    label: "Duration",
    sort: "billedDuration",
    end: true,
    cell: (call) => {
      const ms = durationMsOf(call, Date.now());
      return ms === null ? "–" : clockOf(ms);
    },
  },
  {
    id: "wait",
    label: "Reply wait",
    end: true,
    cell: ({ medianReplyWait }) => {
      const ms = msOf(medianReplyWait);
      return ms === null ? "–" : <span title="Median of the call">{shortLength(ms)}</span>;
    },
  },
  { id: "created", label: "Created", sort: "created", cell: ({ created }) => <When at={created} /> },
];

/** The columns by which the list can be sorted now. */
function columnsFor(filters: CallFilters): readonly Column<Call>[] {
  const sorts: readonly string[] = sortsFor(filters).map(({ value }) => value);
  return COLUMNS.map(({ sort, ...column }) =>
    sort === undefined || !sorts.includes(sort) ? column : { ...column, sort },
  );
}

/**
 * Changes of the filters build on each other. The router passes `setAddress` the address that was rendered last, which
 * is older than a change of the same moment, so that a search that follows a pause in typing would undo the click
 * before it.
 */
function useAddressChange(address: URLSearchParams, setAddress: SetURLSearchParams) {
  const latest = useRef({ address, setAddress });
  useEffect(() => {
    latest.current = { address, setAddress };
  }, [address, setAddress]);
  return useCallback((changes: Partial<CallFilters>) => {
    const { current } = latest;
    const next = withFilters(current.address, changes);
    if (next.toString() === current.address.toString()) return;
    latest.current = { ...current, address: next };
    current.setAddress(next, { replace: true });
  }, []);
}

function CallList() {
  const [address, setAddress] = useSearchParams();
  const filters = filtersOf(address);
  const search = useSearchText(filters.search);
  const said = useSearchText(filters.said);
  const [doomed, setDoomed] = useState<Call | null>(null);
  const change = useAddressChange(address, setAddress);
  useEffect(() => {
    // The texts are also in the URL, so that going back from a call shows the same list.
    change({ search: search.wanted, said: said.wanted });
  }, [search.wanted, said.wanted, change]);
  const pages = usePages(
    "/api/calls",
    { query: queryOf(filters) },
    { everyMs: (rows) => (rows.some(({ ended }) => ended === null) ? RUNNING_MS : QUIET_MS) },
  );
  const actions: Column<Call> = {
    id: "actions",
    label: "Actions",
    actions: true,
    cell: (call) => <Actions call={call} onDelete={() => setDoomed(call)} />,
  };
  return (
    <div className={styles.list}>
      <FilterBar
        filters={filters}
        onChange={change}
        search={search.text}
        onSearch={search.setText}
        said={said.text}
        onSaid={said.setText}
      />
      <PagedTable
        label="Calls"
        pages={pages}
        columns={[...columnsFor(filters), actions]}
        keyOf={({ callId }) => callId}
        sort={filters.sort}
        onSort={(chosen) => {
          const sort = SORTS.find(({ value }) => value === chosen)?.value;
          if (sort !== undefined) change({ sort });
        }}
        empty={isFiltered(filters) ? <NoMatch filters={filters} /> : <NoCalls />}
      />
      <DeleteCall callId={doomed?.callId ?? null} onClose={() => setDoomed(null)} />
    </div>
  );
}

function Title({ call }: { readonly call: Call }) {
  return (
    <div className={styles.title}>
      <span className={styles.titleRow}>
        <Link to={`/calls/${call.callId}`}>{nameOf(call)}</Link>
        {call.recordingEnabled && (
          <span title="Recorded">
            <Disc aria-hidden="true" />
            <VisuallyHidden>Recorded</VisuallyHidden>
          </span>
        )}
      </span>
      {call.firstWords !== null && <q className={styles.words}>{call.firstWords}</q>}
      {(call.shortSummary !== null || call.firstWords === null) && (
        <span className={styles.summary}>{call.shortSummary ?? call.callId}</span>
      )}
    </div>
  );
}

function Actions({ call, onDelete }: { readonly call: Call; readonly onDelete: () => void }) {
  const trigger = (
    <IconButton
      label={`Actions for the call ${call.callId}`}
      icon={<MoreHorizontal aria-hidden="true" />}
      small
    />
  );
  return (
    <Menu trigger={trigger}>
      <MenuLink to={`/calls/${call.callId}`} icon={<PhoneCall aria-hidden="true" />}>
        Open
      </MenuLink>
      <ScopedMenuItem needs="admin" dangerous icon={<Trash2 aria-hidden="true" />} onSelect={onDelete}>
        Delete
      </ScopedMenuItem>
    </Menu>
  );
}

function NoMatch({ filters }: { readonly filters: CallFilters }) {
  return (
    <Empty icon={<PhoneCall aria-hidden="true" />} title="No matching calls">
      {filters.said !== "" && (
        <>
          "Words that were said" finds ended calls with a transcript in which the caller or the agent said all
          of these words, in any order. A new call is found some seconds after its end.{" "}
        </>
      )}
      {filters.search !== "" && (
        <>"Search calls" covers agent names, summaries, metadata values and complete ids. </>
      )}
      A call must match all filters. Fewer filters may find some.
    </Empty>
  );
}

function NoCalls() {
  return (
    <Empty
      icon={<PhoneCall aria-hidden="true" />}
      title="No calls yet"
      actions={
        <ButtonLink kind="primary" to="/talk">
          Talk to an agent
        </ButtonLink>
      }
    >
      Calls from the console, the API and batches appear here.
    </Empty>
  );
}
