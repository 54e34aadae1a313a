/** Duration, recording and connections of calls. */

import styles from "./agents.module.css";
import { useDraft } from "./draft-context.tsx";
import { isObject } from "./draft.ts";
import { DurationAt, JsonAt, SelectAt, SwitchAt, TextAt } from "./fields.tsx";
import { RetentionAt } from "./list-sections.tsx";
import { SectionCard } from "./section-nav.tsx";

export function LimitsSection() {
  return (
    <SectionCard id="limits">
      <div className={styles.columns}>
        <DurationAt path="maxDuration" label="Maximum duration" hint="Starts when the call is joined." />
        <DurationAt
          path="joinTimeout"
          label="Join timeout"
          hint="The call ends if nobody joins within this time."
        />
        <RetentionAt />
      </div>
      <TextAt
        path="timeExceededMessage"
        label="Message at the maximum duration"
        rows={2}
        hint="Spoken before the call ends."
      />
      <SwitchAt path="recordingEnabled" label="Record calls" hint="Records the caller and the agent." />
    </SectionCard>
  );
}

/** The first is the default of the API. */
const CLIENT_MESSAGES = [
  { value: "trusted", label: "All messages, including tool calls" },
  { value: "standard", label: "All messages except tool calls and stage changes" },
  { value: "media", label: "Speech, text and hang-up only" },
] as const;

export function ConnectionSection() {
  const { template } = useDraft();
  const used = ["medium", "dataConnection", "contextSchema", "sharedSecrets"].some(
    (name) => isObject(template[name]) || Array.isArray(template[name]),
  );
  return (
    <SectionCard id="connection" text="Which messages clients can send, and advanced settings as JSON.">
      <SelectAt
        path="clientMessages"
        label="Messages accepted from clients"
        hint="Anyone with the join URL of a call can send messages to it. With “All messages”, clients can also make the agent call its tools. For public web pages, choose “Speech, text and hang-up only”."
        choices={CLIENT_MESSAGES}
      />
      <details open={used}>
        <summary>Medium, data connection, variables</summary>
        <div className={styles.columns}>
          <JsonAt path="medium" label="Medium" hint="One medium. Default: WebRTC." />
          <JsonAt
            path="dataConnection"
            label="Data connection"
            hint="A WebSocket of yours that the service connects to during the call."
          />
          <JsonAt
            path="contextSchema"
            label="Variable schema"
            hint="A JSON Schema for the variables. Leave empty to accept the variables in the texts."
          />
          <JsonAt
            path="sharedSecrets"
            label="Shared secrets"
            hint="A list of secrets that sign the data connection. Saved secrets are not shown. Enter them again each time you save."
          />
        </div>
      </details>
    </SectionCard>
  );
}
