/** The health of a webhook. */

import type { Webhook } from "@parley/schema";
import { HeartPulse } from "lucide-react";
import { useChange } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Card, KeyValue } from "../../ui/display.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty, ErrorState } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { HealthBadge } from "./webhooks-screen.tsx";
import styles from "./webhooks.module.css";

export function Health({ webhook }: { readonly webhook: Webhook }) {
  const { webhookId, status, lastStatusChange, recentFailures } = webhook;
  const reset = useChange<null, unknown>(
    (api) =>
      api.fetch("PATCH", "/api/webhooks/{webhook_id}", {
        params: { webhook_id: webhookId },
        body: { status: "normal" },
      }),
    ["/api/webhooks"],
  );
  return (
    <div className={styles.parts}>
      <Card
        title="Health"
        actions={
          status === "unhealthy" && (
            <Button busy={reset.isPending} onClick={() => reset.mutate(null)}>
              <HeartPulse aria-hidden="true" /> Mark as healthy
            </Button>
          )
        }
      >
        <KeyValue
          rows={[
            ["Status", <HealthBadge key="now" status={status} />],
            ["Since", <When key="since" at={lastStatusChange} none="Creation" />],
          ]}
        />
        <p>
          A webhook is unhealthy after five failed attempts in a row, or after a response with status 410. It
          is healthy again after the next successful attempt. Events are always delivered.
        </p>
        {reset.error !== null && <ErrorState error={reset.error} />}
      </Card>
      {recentFailures.length === 0 ? (
        <Empty icon={<HeartPulse aria-hidden="true" />} title="No recent failures" />
      ) : (
        <Table
          label="Recent failures"
          rows={recentFailures.map((failure, index) => ({ ...failure, index }))}
          keyOf={({ index }) => index}
          columns={[
            { id: "at", label: "Time", cell: ({ timestamp }) => <When at={timestamp} seconds /> },
            {
              id: "failure",
              label: "Error",
              cell: ({ failure }) => <span className={styles.failure}>{failure}</span>,
            },
          ]}
        />
      )}
    </div>
  );
}
