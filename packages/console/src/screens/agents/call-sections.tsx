/** Duration, recording and connections of calls. */

import { Card } from "../../ui/display.tsx";
import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import { DurationAt, JsonAt, SwitchAt, TextAt } from "./fields.tsx";
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

export function ConnectionSection() {
  const { template } = useDraft();
  const used = ["medium", "dataConnection", "contextSchema", "sharedSecrets"].some(
    (name) => isObject(template[name]) || Array.isArray(template[name]),
  );
  return (
    <Card title="Connections" text="Advanced settings as JSON. See the API reference.">
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
