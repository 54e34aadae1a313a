/** The deliveries of a webhook, with their attempts and redelivery. */

import type { Webhook, WebhookDelivery, WebhookEvent } from "@parley/schema";
import { ParleyError } from "@parley/client/rest";
import { RotateCw, Send } from "lucide-react";
import { useState } from "react";
import { Link } from "react-router";
import { useChange } from "../../data/api.tsx";
import { usePages } from "../../data/pages.ts";
import { Button } from "../../ui/button.tsx";
import { Badge, Toolbar } from "../../ui/display.tsx";
import { Select } from "../../ui/field.tsx";
import { Notice } from "../../ui/form.tsx";
import { When } from "../../ui/parts.tsx";
import { Empty, ErrorState } from "../../ui/states.tsx";
import { type Column, PagedTable } from "../../ui/table.tsx";
import { useToast } from "../../ui/toast.tsx";
import { EVENTS } from "./webhook-form.tsx";
import styles from "./webhooks.module.css";

const DELIVERIES = "/api/webhooks/{webhook_id}/deliveries";

const STATUSES = [
  { value: "", label: "All states" },
  { value: "pending", label: "Pending" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
] as const;

const LABELS = { pending: "Pending", delivered: "Delivered", failed: "Failed" } as const;
const TONES = { pending: "warn", delivered: "good", failed: "bad" } as const;

/** Polling interval with pending deliveries: an attempt takes at most 10 s. */
const UNDER_WAY_MS = 1_500;
const QUIET_MS = 10_000;

function isDueSoon({ status, nextAttempt }: WebhookDelivery): boolean {
  return status === "pending" && (nextAttempt === null || Date.parse(nextAttempt) < Date.now() + QUIET_MS);
}

/** The deployment stores webhooks but does not deliver. */
function isMissing(error: unknown): error is ParleyError {
  return error instanceof ParleyError && error.problem.code === "not_available";
}

export function Deliveries({ webhook }: { readonly webhook: Webhook }) {
  const params = { webhook_id: webhook.webhookId };
  const [status, setStatus] = useState<(typeof STATUSES)[number]["value"]>("");
  const pages = usePages(
    DELIVERIES,
    { params, query: status === "" ? {} : { status } },
    { everyMs: (rows) => (rows.some(isDueSoon) ? UNDER_WAY_MS : QUIET_MS) },
  );
  if (isMissing(pages.error)) {
    return <Notice>{pages.error.problem.detail}</Notice>;
  }
  return (
    <div className={styles.parts}>
      <Toolbar>
        <Select aria-label="State" value={status} choices={STATUSES} onChange={setStatus} />
        <Button small onClick={pages.retry}>
          <RotateCw aria-hidden="true" /> Refresh
        </Button>
        <TestButton webhookId={webhook.webhookId} />
      </Toolbar>
      <PagedTable
        label="Deliveries"
        pages={pages}
        columns={COLUMNS}
        keyOf={({ deliveryId }) => deliveryId}
        empty={
          <Empty icon={<Send aria-hidden="true" />} title="No deliveries yet">
            Deliveries appear here, with each attempt.
          </Empty>
        }
      />
    </div>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { id: "created", label: "Created", cell: ({ created }) => <When at={created} seconds /> },
  { id: "event", label: "Event", cell: ({ event }) => <code>{event}</code> },
  {
    id: "call",
    label: "Call",
    cell: ({ callId }) => <Link to={`/calls/${callId}`}>{callId.slice(0, 8)}</Link>,
  },
  {
    id: "status",
    label: "State",
    cell: ({ status }) => <Badge tone={TONES[status]}>{LABELS[status]}</Badge>,
  },
  { id: "attempts", label: "Attempts", cell: (delivery) => <Attempts delivery={delivery} /> },
  { id: "again", label: "Actions", actions: true, cell: (delivery) => <Redeliver delivery={delivery} /> },
];

/** An attempt without a 2xx response. */
function isFailed({ failure }: WebhookDelivery["attempts"][number]): boolean {
  return failure !== null;
}

function Attempts({ delivery: { attempts, nextAttempt } }: { readonly delivery: WebhookDelivery }) {
  const last = attempts.at(-1);
  return (
    <div>
      <span className={last !== undefined && isFailed(last) ? styles.failure : ""}>
        {last === undefined
          ? "None"
          : `${attempts.length === 1 ? "1 attempt" : `${String(attempts.length)} attempts. Last`}: ${last.failure ?? `HTTP ${String(last.status)}`} after ${String(last.durationMs)} ms`}
      </span>
      {nextAttempt !== null && (
        <div>
          Next attempt: <When at={nextAttempt} seconds />
        </div>
      )}
    </div>
  );
}

function Redeliver({ delivery }: { readonly delivery: WebhookDelivery }) {
  const toast = useToast();
  const again = useChange<null, unknown>(
    (api) =>
      api.fetch("POST", `${DELIVERIES}/{delivery_id}/redeliver`, {
        params: { webhook_id: delivery.webhookId, delivery_id: delivery.deliveryId },
      }),
    ["/api/webhooks"],
  );
  const send = () =>
    again.mutateAsync(null).then(
      () => toast("Resending the event."),
      (error: unknown) => toast(error instanceof Error ? error.message : String(error), "failed"),
    );
  return (
    <Button
      small
      busy={again.isPending}
      aria-label={`Resend ${delivery.event} of ${delivery.created}`}
      onClick={() => void send()}
    >
      Resend
    </Button>
  );
}

function TestButton({ webhookId }: { readonly webhookId: string }) {
  const toast = useToast();
  const [event, setEvent] = useState<WebhookEvent>("call.ended");
  const test = useChange<null, unknown>(
    (api) =>
      api.fetch("POST", "/api/webhooks/{webhook_id}/test", {
        params: { webhook_id: webhookId },
        body: { event },
      }),
    ["/api/webhooks"],
  );
  return (
    <>
      <Select aria-label="Test event" value={event} choices={EVENTS} onChange={setEvent} />
      <Button
        small
        busy={test.isPending}
        onClick={() => test.mutate(null, { onSuccess: () => toast("Test event sent.") })}
      >
        <Send aria-hidden="true" /> Send test event
      </Button>
      {test.error !== null && <ErrorState error={test.error} />}
    </>
  );
}
