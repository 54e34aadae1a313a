/** One webhook: health, deliveries, secrets and settings. */

import type { Webhook } from "@parley/schema";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate, useParams } from "react-router";
import { useChange, useRead } from "../../data/api.tsx";
import { Button } from "../../ui/button.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { Confirm } from "../../ui/dialog.tsx";
import { ErrorState, Loading } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { useToast } from "../../ui/toast.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Health } from "./health.tsx";
import { Secrets } from "./secrets.tsx";
import { WebhookForm, type WebhookDraft } from "./webhook-form.tsx";

const BACK = { to: "/webhooks", label: "Webhooks" };
const PATH = "/api/webhooks/{webhook_id}";
/** Polling interval, to show failed deliveries. */
const REFRESH_MS = 4_000;

export function WebhookScreen() {
  const { webhookId = "" } = useParams();
  const params = { webhook_id: webhookId };
  const { data, error, refetch } = useRead(PATH, { params }, { everyMs: REFRESH_MS });
  if (data !== undefined) return <OneWebhook webhook={data} />;
  return (
    <Page>
      <PageHeader title="Webhook" back={BACK} />
      {error === null ? <Loading lines={8} /> : <ErrorState error={error} retry={() => void refetch()} />}
    </Page>
  );
}

function OneWebhook({ webhook }: { readonly webhook: Webhook }) {
  const [deleting, setDeleting] = useState(false);
  const go = useNavigate();
  const toast = useToast();
  const params = { webhook_id: webhook.webhookId };
  const remove = useChange<null, unknown>((api) => api.fetch("DELETE", PATH, { params }), []);
  return (
    <Page>
      <PageHeader
        title={new URL(webhook.url).host}
        back={BACK}
        lead={webhook.url}
        actions={
          <Button kind="danger" onClick={() => setDeleting(true)}>
            <Trash2 aria-hidden="true" /> Delete
          </Button>
        }
      />
      <Tabs
        label="Webhook"
        tabs={[
          { id: "health", label: "Health", content: <Health webhook={webhook} /> },
          { id: "deliveries", label: "Deliveries", content: <Deliveries webhook={webhook} /> },
          { id: "secrets", label: "Secrets", content: <Secrets webhook={webhook} /> },
          { id: "settings", label: "Settings", content: <Settings webhook={webhook} /> },
        ]}
      />
      <Confirm
        open={deleting}
        onClose={() => setDeleting(false)}
        title="Delete this webhook?"
        text="Pending deliveries are cancelled. You cannot undo this."
        action="Delete webhook"
        dangerous
        onConfirm={async () => {
          await remove.mutateAsync(null);
          toast("Webhook deleted.");
          void go("/webhooks");
        }}
      />
    </Page>
  );
}

function Settings({ webhook }: { readonly webhook: Webhook }) {
  const toast = useToast();
  const { webhookId, url, events, agentId } = webhook;
  const save = useChange(
    (api, draft: WebhookDraft) =>
      api.fetch("PATCH", PATH, {
        params: { webhook_id: webhookId },
        body: {
          url: draft.url,
          events: [...draft.events],
          agentId: draft.agentId === "" ? null : draft.agentId,
        },
      }),
    ["/api/webhooks"],
  );
  return (
    <WebhookForm
      initial={{ url, events, agentId: agentId ?? "" }}
      action="Save webhook"
      onSave={async (draft) => {
        await save.mutateAsync(draft);
        toast("Saved. Pending deliveries are sent to this URL.");
      }}
    />
  );
}
