import { randomUUID } from "node:crypto";
import type { Samples } from "./samples.ts";

const body = { url: "https://hooks.example/calls", events: ["call.ended"] };

export const webhookSamples: Samples = {
  async make(owner, { agent_id: agentId }) {
    const webhook = await owner.post("/api/webhooks", { ...body, agentId });
    // There is no delivery yet: any id is looked up in its webhook only.
    return { webhook_id: String(webhook.json["webhookId"]), delivery_id: randomUUID() };
  },
  bodies: { createWebhook: body, replaceWebhook: body },
};
