import { Webhook } from "lucide-react";
import { page, type Screen } from "../screen.ts";

export const webhooksScreen: Screen = {
  noun: "webhooks",
  title: "Webhooks",
  icon: Webhook,
  group: "Connect",
  routes: [
    page("", async () => (await import("./webhooks-screen.tsx")).WebhooksScreen),
    page("new", async () => (await import("./new-webhook-screen.tsx")).NewWebhookScreen),
    page(":webhookId", async () => (await import("./webhook-screen.tsx")).WebhookScreen),
  ],
};
