/** Duration, recording and connections of calls. */

import { Card } from "../../ui/display.tsx";
import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import { DurationAt, JsonAt, SelectAt, SwitchAt, TextAt } from "./fields.tsx";
import { RetentionAt } from "./list-sections.tsx";

export function LimitsSection() {
  return (
    <Card title="Duration and recording">
      <div className={styles.columns}>
        <DurationAt path="maxDuration" label="Maximum duration" />
        <DurationAt path="joinTimeout" label="Join timeout" />
        <RetentionAt />
      </div>
      <TextAt path="timeExceededMessage" label="Message when the time is up" rows={2} />
      <SwitchAt path="recordingEnabled" label="Record calls" />
    </Card>
  );
}

/** The first is the default of the API. */
const CLIENT_MESSAGES = [
  { value: "trusted", label: "Everything, also tool calls" },
  { value: "standard", label: "No tool calls, no new stages" },
  { value: "media", label: "Only talk, type and hang up" },
] as const;

export function ConnectionSection() {
  const { template } = useDraft();
  const used = ["medium", "dataConnection", "contextSchema", "sharedSecrets"].some(
    (name) => isObject(template[name]) || Array.isArray(template[name]),
  );
  return (
    <Card
      title="Connections"
      text="What clients may send, and advanced settings as JSON. See the API reference."
    >
      <SelectAt
        path="clientMessages"
        label="What callers may send"
        hint="Anyone who has the join URL of a call can send messages to it. With “Everything”, a caller can make the agent call its tools with any valid arguments. Choose “Only talk, type and hang up” for web pages that strangers use."
        choices={CLIENT_MESSAGES}
      />
      <details open={used}>
        <summary>Medium, data connection, variables</summary>
        <div className={styles.columns}>
          <JsonAt path="medium" label="Medium" hint="At most one key. Unset: WebRTC." />
          <JsonAt path="dataConnection" label="Data connection" />
          <JsonAt path="contextSchema" label="Schema of variables" />
          <JsonAt
            path="sharedSecrets"
            label="Shared secrets"
            hint="A list of texts that sign the data connection. They are never shown again, and each save replaces the whole template, so enter them every time."
          />
        </div>
      </details>
    </Card>
  );
}
