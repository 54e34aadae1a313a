/** All webhooks of the account. */

import type { Webhook } from "@parley/schema";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { Link } from "react-router";
import { usePages } from "../../data/pages.ts";
import { ScopedLink } from "../scoped-buttons.tsx";
import { Badge, Page, PageHeader } from "../../ui/display.tsx";
import { Inline, When } from "../../ui/parts.tsx";
import { Empty } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useAgentNames } from "../agent-field.tsx";
import styles from "./webhooks.module.css";

export function HealthBadge({ status }: Pick<Webhook, "status">) {
  return status === "normal" ? <Badge tone="good">Healthy</Badge> : <Badge tone="bad">Unhealthy</Badge>;
}

function columnsWith(agents: ReadonlyMap<string, string>): readonly Column<Webhook>[] {
  return [
    {
      id: "url",
      label: "URL",
      cell: ({ webhookId, url }) => (
        <Link className={styles.url} to={`/webhooks/${webhookId}`}>
          {url}
        </Link>
      ),
    },
    {
      id: "events",
      label: "Events",
      cell: ({ events }) => (
        <Inline>
          {events.map((event) => (
            <Badge key={event}>{event}</Badge>
          ))}
        </Inline>
      ),
    },
    {
      id: "agent",
      label: "Agent",
      cell: ({ agentId }) => (agentId === null ? "All agents" : (agents.get(agentId) ?? agentId)),
    },
    { id: "status", label: "Health", cell: ({ status }) => <HealthBadge status={status} /> },
    { id: "created", label: "Created", cell: ({ created }) => <When at={created} /> },
  ];
}

export function WebhooksScreen() {
  const pages = usePages("/api/webhooks", {});
  const agents = useAgentNames();
  const create = (
    <ScopedLink needs="admin" to="/webhooks/new" kind="primary">
      <Plus aria-hidden="true" /> New webhook
    </ScopedLink>
  );
  return (
    <Page>
      <PageHeader
        title="Webhooks"
        lead="Receive requests at your URL when calls start, are joined, end and are billed."
        actions={create}
      />
      <PagedTable
        label="Webhooks"
        pages={pages}
        columns={columnsWith(agents)}
        keyOf={({ webhookId }) => webhookId}
        empty={
          <Empty icon={<WebhookIcon aria-hidden="true" />} title="No webhooks yet" actions={create}>
            A webhook sends a signed request to your URL for each event.
          </Empty>
        }
      />
    </Page>
  );
}
