/** The URL and events of a webhook. */

import type { WebhookEvent } from "@parley/schema";
import { useState } from "react";
import { Card } from "../../ui/display.tsx";
import { Form } from "../../ui/form.tsx";
import { Checks } from "../../ui/parts.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { AgentField } from "../agent-field.tsx";

export interface WebhookDraft {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Empty: all agents. */
  readonly agentId: string;
}

export const EVENTS = [
  { value: "call.started", label: "Call started" },
  { value: "call.joined", label: "Call joined" },
  { value: "call.ended", label: "Call ended" },
  { value: "call.billed", label: "Call billed" },
] as const satisfies readonly { readonly value: WebhookEvent; readonly label: string }[];

export interface WebhookFormProps {
  readonly initial: WebhookDraft;
  readonly action: string;
  readonly onSave: (draft: WebhookDraft) => Promise<unknown>;
  readonly onCancel?: () => void;
}

export function WebhookForm({ initial, action, onSave, onCancel }: WebhookFormProps) {
  const [draft, setDraft] = useState(initial);
  const set = (changes: Partial<WebhookDraft>) => setDraft((before) => ({ ...before, ...changes }));
  const check = () => [
    ...(URL.canParse(draft.url)
      ? []
      : [{ field: "url", message: "must be a URL such as https://shop.example/calls" }]),
    ...(draft.events.length === 0 ? [{ field: "events", message: "must include at least one event" }] : []),
  ];
  return (
    <Card>
      <Form label="Webhook" action={action} onCancel={onCancel} check={check} onSave={() => onSave(draft)}>
        <TextField
          label="URL"
          path="url"
          hint="Must respond with a 2xx status within 10 seconds."
          inputMode="url"
          spellCheck={false}
          maxLength={200}
          value={draft.url}
          onChange={(url) => set({ url })}
        />
        <Checks
          legend="Events"
          path="events"
          choices={EVENTS}
          chosen={draft.events}
          onChange={(events) => set({ events })}
        />
        <AgentField
          label="Agent"
          aside="optional"
          path="agentId"
          hint="Leave empty to receive events of all agents."
          value={draft.agentId}
          onChange={(agentId) => set({ agentId })}
        />
      </Form>
    </Card>
  );
}
