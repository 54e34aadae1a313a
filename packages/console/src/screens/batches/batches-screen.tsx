/** Batches of all agents, or of one. */

import type { ScheduledCallBatch } from "@parley/schema";
import { useQuery } from "@tanstack/react-query";
import { CalendarClock, PhoneOff, Plus } from "lucide-react";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "react-router";
import { useApi, useRead } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { ButtonLink } from "../../ui/button.tsx";
import { ScopedLink } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader } from "../../ui/display.tsx";
import { Note } from "../../ui/form.tsx";
import { Progress, When } from "../../ui/parts.tsx";
import { Empty, ErrorState, Loading } from "../../ui/states.tsx";
import { type Column, PagedTable, Table } from "../../ui/table.tsx";
import { AgentField, useAgentNames } from "../agent-field.tsx";
import { stateOf, STATES, titleOf } from "./batch-state.ts";
import styles from "./batches.module.css";

export const BATCHES = "/api/agents/{agent_id}/scheduled_batches";

export function StateBadge({ batch }: { readonly batch: ScheduledCallBatch }) {
  const { label, tone } = STATES[stateOf(batch, Date.now())];
  return <Badge tone={tone}>{label}</Badge>;
}

interface Row extends ScheduledCallBatch {
  readonly agentId: string;
}

function columnsWith(agents: ReadonlyMap<string, string>): readonly Column<Row>[] {
  return [
    {
      id: "name",
      label: "Name",
      cell: (batch) => <Link to={`/batches/${batch.agentId}/${batch.batchId}`}>{titleOf(batch)}</Link>,
    },
    { id: "agent", label: "Agent", cell: ({ agentId }) => agents.get(agentId) ?? agentId },
    { id: "state", label: "State", cell: (batch) => <StateBadge batch={batch} /> },
    {
      id: "progress",
      label: "Calls",
      cell: ({ completedCount, failedCount, totalCount }) => (
        <Progress label="Completed calls" done={completedCount} total={totalCount} failed={failedCount} />
      ),
    },
    { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
    { id: "start", label: "Starts", cell: ({ windowStart }) => <When at={windowStart} none="Immediately" /> },
    { id: "end", label: "Ends", cell: ({ windowEnd }) => <When at={windowEnd} none="No end time" /> },
  ];
}

export function BatchesScreen() {
  const [search, setSearch] = useSearchParams();
  const agentId = search.get("agent") ?? "";
  const names = useAgentNames();
  const choose = (id: string) => setSearch(id === "" ? {} : { agent: id }, { replace: true });
  const create = (
    <ScopedLink
      needs="calls"
      to={agentId === "" ? "/batches/new" : `/batches/new?agent=${agentId}`}
      kind="primary"
    >
      <Plus aria-hidden="true" /> New batch
    </ScopedLink>
  );
  const empty = (
    <Empty icon={<CalendarClock aria-hidden="true" />} title="No batches yet" actions={create}>
      A batch creates up to 100,000 calls with one agent on a schedule. To create one, upload a table with a
      row for each call.
    </Empty>
  );
  return (
    <Page>
      <PageHeader
        title="Batches"
        lead="Create many calls on a schedule."
        actions={
          <>
            <ButtonLink to="/batches/do-not-call">
              <PhoneOff aria-hidden="true" /> Do-not-call list
            </ButtonLink>
            {create}
          </>
        }
      />
      <div className={styles.narrow}>
        <AgentField label="Agent" value={agentId} onChange={choose} />
      </div>
      {agentId === "" ? (
        <OfAllAgents names={names} empty={empty} />
      ) : (
        <OfOneAgent agentId={agentId} names={names} empty={empty} />
      )}
    </Page>
  );
}

interface ListProps {
  readonly names: ReadonlyMap<string, string>;
  readonly empty: ReactNode;
}

function OfOneAgent({ agentId, names, empty }: ListProps & { readonly agentId: string }) {
  const pages = usePages(BATCHES, { params: { agent_id: agentId } });
  const rows = pages.rows?.map((batch) => ({ ...batch, agentId })) ?? null;
  return (
    <PagedTable
      label="Batches"
      pages={{ ...pages, rows }}
      columns={columnsWith(names)}
      keyOf={({ batchId }) => batchId}
      empty={empty}
    />
  );
}

/** The API lists batches by agent. Limits the agents that are read, and the batches of each. */
const MAX_AGENTS = 40;
const BATCHES_EACH = 10;
/** Concurrent requests. */
const AT_A_TIME = 6;
const REFRESH_MS = 15_000;
/** The same page size as `useAgentNames`. */
const AGENTS = { query: { pageSize: 100, sort: "name" } } as const;

function useNewest(agentIds: readonly string[]) {
  const api = useApi();
  return useQuery({
    queryKey: ["/api/agents", "newest batches", agentIds],
    queryFn: async ({ signal }) => {
      const rows: Row[] = [];
      for (let at = 0; at < agentIds.length; at += AT_A_TIME) {
        const found = agentIds.slice(at, at + AT_A_TIME).map(async (agentId) => {
          const page = await api.fetch("GET", BATCHES, {
            params: { agent_id: agentId },
            query: { pageSize: BATCHES_EACH },
            signal,
          });
          return page.results.map((batch): Row => ({ ...batch, agentId }));
        });
        rows.push(...(await Promise.all(found)).flat());
      }
      return rows.sort((one, other) => other.created.localeCompare(one.created));
    },
    refetchInterval: REFRESH_MS,
    // The batch that the user comes back from may be deleted.
    staleTime: 0,
  });
}

function OfAllAgents({ names, empty }: ListProps) {
  const asked = [...names.keys()].slice(0, MAX_AGENTS);
  const { data, error, refetch } = useNewest(asked);
  const known = useRead("/api/agents", AGENTS);
  if (known.error !== null) return <ErrorState error={known.error} retry={() => void known.refetch()} />;
  if (known.data === undefined) return <Loading lines={6} />;
  if (data === undefined) {
    return error === null ? <Loading lines={6} /> : <ErrorState error={error} retry={() => void refetch()} />;
  }
  if (data.length === 0) return empty;
  return (
    <div className={styles.parts}>
      <Table label="Batches" rows={data} columns={columnsWith(names)} keyOf={({ batchId }) => batchId} />
      <Note>
        Shows the {BATCHES_EACH} newest batches of each agent
        {names.size > MAX_AGENTS ? ` for the first ${String(MAX_AGENTS)} agents by name` : ""}. To see all
        batches of an agent, choose the agent.
      </Note>
    </div>
  );
}
