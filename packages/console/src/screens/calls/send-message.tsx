/** Sends a data message to a running call, like a program. */

import type { InputOf } from "@parley/client/rest";
import { useState } from "react";
import { useChange } from "../../data/api.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Switch } from "../../ui/field.tsx";
import { Form } from "../../ui/form.tsx";
import { SelectField, TextAreaField } from "../../ui/text-field.tsx";
import { useToast } from "../../ui/toast.tsx";

const PATH = "/api/calls/{call_id}/send_data_message";
type Input = InputOf<"POST", typeof PATH>;
type Body = NonNullable<Input["body"]>;

const TYPES = [
  { value: "user_text_message", label: "User message", hint: "Sent as if the caller typed it." },
  { value: "forced_agent_message", label: "Agent message", hint: "The agent says exactly this." },
  {
    value: "hang_up",
    label: "Hang up",
    hint: "The agent says this and hangs up. Leave empty to hang up without a message.",
  },
] as const;
type Type = (typeof TYPES)[number]["value"];

const URGENCIES = {
  user_text_message: [
    { value: "immediate", label: "Immediately, interrupting the agent" },
    { value: "soon", label: "After the agent has finished" },
    { value: "later", label: "Add to the history without a reply" },
  ],
  forced_agent_message: [
    { value: "immediate", label: "Immediately, interrupting the agent" },
    { value: "soon", label: "After the agent has finished" },
  ],
  hang_up: [],
} as const;

type Urgency = (typeof URGENCIES)["user_text_message"][number]["value"];

/** The limit of a data message; its other parts are short. */
const MAX_TEXT_LENGTH = 60_000;

interface Draft {
  readonly type: Type;
  readonly text: string;
  readonly urgency: Urgency;
  readonly uninterruptible: boolean;
}

const EMPTY: Draft = { type: "user_text_message", text: "", urgency: "soon", uninterruptible: false };

function bodyOf({ type, text, urgency, uninterruptible }: Draft): Body {
  if (type === "hang_up") return { type, message: text };
  if (type === "forced_agent_message") {
    return { type, content: text, urgency: urgency === "immediate" ? "immediate" : "soon", uninterruptible };
  }
  return { type, text, urgency };
}

export interface SendMessageProps {
  readonly callId: string;
  readonly open: boolean;
  readonly onClose: () => void;
}

export function SendMessage({ callId, open, onClose }: SendMessageProps) {
  const [draft, setDraft] = useState(EMPTY);
  const toast = useToast();
  const send = useChange(
    (api, body: Body) => api.fetch("POST", PATH, { params: { call_id: callId }, body }),
    ["/api/calls"],
  );
  const { type, text } = draft;
  const urgencies = URGENCIES[type];
  return (
    <Dialog open={open} onClose={onClose} title="Send message">
      <Form
        label="Message"
        action="Send message"
        onCancel={onClose}
        check={() =>
          type !== "hang_up" && text.trim() === "" ? [{ field: "text", message: "Enter a message." }] : []
        }
        onSave={async () => {
          await send.mutateAsync(bodyOf(draft));
          toast("Message sent.");
          setDraft(EMPTY);
          onClose();
        }}
      >
        <SelectField
          label="Type"
          value={type}
          choices={TYPES}
          onChange={(next) => setDraft({ ...draft, type: next, urgency: "soon" })}
        />
        <TextAreaField
          label="Text"
          path="text"
          hint={TYPES.find(({ value }) => value === type)?.hint}
          rows={3}
          maxLength={MAX_TEXT_LENGTH}
          value={text}
          onChange={(text) => setDraft({ ...draft, text })}
        />
        {urgencies.length > 0 && (
          <SelectField
            label="When"
            value={draft.urgency}
            choices={urgencies}
            onChange={(urgency) => setDraft({ ...draft, urgency })}
          />
        )}
        {type === "forced_agent_message" && (
          <Switch
            label="Cannot be interrupted"
            checked={draft.uninterruptible}
            onChange={(uninterruptible) => setDraft({ ...draft, uninterruptible })}
          />
        )}
      </Form>
    </Dialog>
  );
}
