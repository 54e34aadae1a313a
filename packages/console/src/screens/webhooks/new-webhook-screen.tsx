import { useNavigate } from "react-router";
import { useChange } from "../../data/api.tsx";
import { Page, PageHeader } from "../../ui/display.tsx";
import { useToast } from "../../ui/toast.tsx";
import { type WebhookDraft, WebhookForm } from "./webhook-form.tsx";

const NEW: WebhookDraft = { url: "https://", events: ["call.ended"], agentId: "" };

export function NewWebhookScreen() {
  const go = useNavigate();
  const toast = useToast();
  const create = useChange(
    (api, { url, events, agentId }: WebhookDraft) =>
      api.fetch("POST", "/api/webhooks", {
        body: { url, events: [...events], ...(agentId === "" ? {} : { agentId }) },
      }),
    ["/api/webhooks"],
  );
  return (
    <Page>
      <PageHeader
        title="New webhook"
        back={{ to: "/webhooks", label: "Webhooks" }}
        lead="After you create the webhook, you see the secret that verifies its requests."
      />
      <WebhookForm
        initial={NEW}
        action="Create webhook"
        onCancel={() => void go("/webhooks")}
        onSave={async (draft) => {
          const webhook = await create.mutateAsync(draft);
          toast("Webhook created. Use the secret to verify requests.");
          await go(`/webhooks/${webhook.webhookId}?view=secrets`);
        }}
      />
    </Page>
  );
}
