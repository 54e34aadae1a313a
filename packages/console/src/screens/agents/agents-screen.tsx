/** All agents of the account. */

import type { RowOf } from "@parley/client/rest";
import { Copy, Mic, MoreVertical, Plus, Speech, Trash2 } from "lucide-react";
import { useDeferredValue, useState } from "react";
import { Link, useSearchParams } from "react-router";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { IconButton } from "../../ui/button.tsx";
import { ScopedLink, ScopedMenuItem, ScopedMenuLink } from "../scoped-buttons.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { Page, PageHeader, SearchField, Toolbar } from "../../ui/display.tsx";
import { Menu, MenuSeparator } from "../../ui/menu.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { Moment } from "../../ui/time.tsx";
import { useToast } from "../../ui/toast.tsx";
import { StarterCards } from "../starter-cards.tsx";

export type AgentRow = RowOf<"/api/agents">;
type Sort = "name" | "-name" | "created" | "-created";

const SORTS: readonly Sort[] = ["name", "-name", "created", "-created"];

const COLUMNS: readonly Column<AgentRow>[] = [
  {
    id: "name",
    label: "Name",
    sort: "name",
    cell: ({ agentId, name }) => <Link to={`/agents/${agentId}`}>{name}</Link>,
  },
  { id: "model", label: "Model", cell: ({ callTemplate }) => callTemplate?.model ?? "default" },
  { id: "voice", label: "Voice", cell: ({ callTemplate }) => voiceOf(callTemplate) },
  { id: "calls", label: "Calls", end: true, cell: ({ statistics }) => statistics.calls.toLocaleString() },
  { id: "created", label: "Created", sort: "created", cell: ({ created }) => <Moment at={created} /> },
];

function voiceOf(template: AgentRow["callTemplate"]): string {
  if (template?.externalVoice !== undefined) return "external";
  return template?.voice ?? "default";
}

export function AgentsScreen() {
  const [address, setAddress] = useSearchParams();
  const [search, setSearch] = useState("");
  const [doomed, setDoomed] = useState<AgentRow | null>(null);
  const wanted = useDeferredValue(search.trim());
  const sort = SORTS.find((known) => known === address.get("sort")) ?? "-created";
  const pages = usePages("/api/agents", { query: { sort, ...(wanted === "" ? {} : { search: wanted }) } });
  const actions: Column<AgentRow> = {
    id: "actions",
    label: "Actions",
    actions: true,
    cell: (agent) => <AgentMenu agent={agent} onDelete={() => setDoomed(agent)} />,
  };
  const none = pages.rows?.length === 0 && wanted === "";
  return (
    <Page>
      <PageHeader
        title="Agents"
        lead="An agent handles calls with its own prompt, model, voice and tools."
        actions={
          <ScopedLink needs="admin" kind="primary" to="/agents/new">
            <Plus aria-hidden="true" /> New agent
          </ScopedLink>
        }
      />
      {!none && (
        <Toolbar>
          <SearchField label="Search agents" value={search} onChange={setSearch} />
        </Toolbar>
      )}
      <PagedTable
        label="Agents"
        pages={pages}
        columns={[...COLUMNS, actions]}
        keyOf={({ agentId }) => agentId}
        sort={sort}
        onSort={(next) => setAddress(next === "-created" ? {} : { sort: next }, { replace: true })}
        empty={
          none ? <NoAgents /> : <Empty title="No matching agents">No agent name contains “{wanted}”.</Empty>
        }
      />
      <DeleteAgent agent={doomed} onClose={() => setDoomed(null)} />
    </Page>
  );
}

function NoAgents() {
  return (
    <>
      <Empty icon={<Speech aria-hidden="true" />} title="No agents yet">
        Create an agent from a template. You can change everything later.
      </Empty>
      <StarterCards />
    </>
  );
}

function AgentMenu({ agent, onDelete }: { readonly agent: AgentRow; readonly onDelete: () => void }) {
  const trigger = (
    <IconButton label={`Actions for ${agent.name}`} icon={<MoreVertical aria-hidden="true" />} small />
  );
  return (
    <Menu trigger={trigger}>
      <ScopedMenuLink needs="calls" to={`/talk?agent=${agent.agentId}`} icon={<Mic aria-hidden="true" />}>
        Talk
      </ScopedMenuLink>
      <ScopedMenuLink
        needs="admin"
        to={`/agents/new?copy=${agent.agentId}`}
        icon={<Copy aria-hidden="true" />}
      >
        Duplicate
      </ScopedMenuLink>
      <MenuSeparator />
      <ScopedMenuItem needs="admin" dangerous icon={<Trash2 aria-hidden="true" />} onSelect={onDelete}>
        Delete
      </ScopedMenuItem>
    </Menu>
  );
}

export interface DeleteAgentProps {
  /** The agent to delete; null: the dialog is closed. */
  readonly agent: Pick<AgentRow, "agentId" | "name"> | null;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function DeleteAgent({ agent, onClose, onDeleted }: DeleteAgentProps) {
  const toast = useToast();
  const remove = useChange(
    (api, agentId: string) =>
      api.fetch("DELETE", "/api/agents/{agent_id}", { params: { agent_id: agentId } }),
    ["/api/agents"],
  );
  return (
    <Confirm
      open={agent !== null}
      onClose={onClose}
      dangerous
      title={`Delete ${agent?.name ?? "the agent"}?`}
      text="This also deletes its webhooks, batches and phone numbers. Its calls are kept. You cannot undo this."
      action="Delete agent"
      onConfirm={async () => {
        if (agent === null) return;
        await remove.mutateAsync(agent.agentId);
        toast(`${agent.name} deleted.`);
        onDeleted?.();
      }}
    />
  );
}
