/** How long calls last, what they run over, and what goes along with them. */

import { Card } from "../../ui/display.tsx";
import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import { DurationAt, JsonAt, SwitchAt, TextAt } from "./fields.tsx";
import { RetentionAt } from "./list-sections.tsx";

export function LimitsSection() {
  return (
    <Card title="Length and record">
      <div className={styles.columns}>
        <DurationAt path="maxDuration" label="Longest call" />
        <DurationAt path="joinTimeout" label="Waits to be joined" />
        <RetentionAt />
      </div>
      <TextAt path="timeExceededMessage" label="Words at the end of the time" rows={2} />
      <SwitchAt path="recordingEnabled" label="Record calls" />
    </Card>
  );
}

export function ConnectionSection() {
  const { template } = useDraft();
  const used = ["medium", "dataConnection", "contextSchema", "sharedSecrets"].some(
    (name) => isObject(template[name]) || Array.isArray(template[name]),
  );
  return (
    <Card title="Connections" text="Few agents need these. Each is written as in the reference.">
      <details open={used}>
        <summary>Medium, data connection, variables</summary>
        <div className={styles.columns}>
          <JsonAt path="medium" label="Medium" hint="At most one key. Unset: WebRTC, as in the browser." />
          <JsonAt path="dataConnection" label="Data connection" />
          <JsonAt path="contextSchema" label="Schema of the variables" />
          <JsonAt
            path="sharedSecrets"
            label="Shared secrets"
            hint="A list of texts that sign the data connection. Never shown again: saving replaces the whole template, so they are to be written here each time."
          />
        </div>
      </details>
    </Card>
  );
}
