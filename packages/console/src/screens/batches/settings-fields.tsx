/** Schedule, limits and webhook of a batch. */

import type { ReactNode } from "react";
import { Combobox } from "../../ui/combobox.tsx";
import { Card } from "../../ui/display.tsx";
import { Field, Switch } from "../../ui/field.tsx";
import { Columns, Note } from "../../ui/form.tsx";
import { Checks } from "../../ui/parts.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useThrottles } from "./throttles.ts";
import { DAYS, OUTCOMES, type SettingsDraft } from "./batch-draft.ts";

/** Like `MAX_BATCH_NAME_LENGTH` of the schema. */
const MAX_NAME_LENGTH = 100;

export interface SettingsFieldsProps {
  readonly draft: SettingsDraft;
  readonly set: (changes: Partial<SettingsDraft>) => void;
  /** A secret is stored. */
  readonly hasSecret?: boolean;
}

export function SettingsFields({ draft, set, hasSecret = false }: SettingsFieldsProps) {
  return (
    <>
      <WindowFields draft={draft} set={set} />
      <WebhookFields draft={draft} set={set} hasSecret={hasSecret} />
      <LimitFields draft={draft} set={set} />
      <PhoneFields draft={draft} set={set} />
    </>
  );
}

export interface NameFieldProps {
  readonly name: string;
  readonly onChange: (name: string) => void;
  /** Fields beside the name. */
  readonly children?: ReactNode;
}

export function NameField({ name, onChange, children }: NameFieldProps) {
  return (
    <Card>
      <Columns>
        <TextField
          label="Name"
          path="name"
          hint="Shown in the list of batches. Leave empty to use the creation time."
          maxLength={MAX_NAME_LENGTH}
          value={name}
          onChange={onChange}
        />
        {children}
      </Columns>
    </Card>
  );
}

function WindowFields({ draft, set }: SettingsFieldsProps) {
  const throttles = useThrottles();
  return (
    <Card title="Schedule">
      <Columns>
        <TextField
          label="Starts"
          aside="local time"
          path="windowStart"
          hint="Leave empty to start immediately."
          type="datetime-local"
          value={draft.windowStart}
          onChange={(windowStart) => set({ windowStart })}
        />
        <TextField
          label="Ends"
          aside="local time"
          path="windowEnd"
          hint="Leave empty to end when all calls are created."
          type="datetime-local"
          value={draft.windowEnd}
          onChange={(windowEnd) => set({ windowEnd })}
        />
        <Field label="Throttle" aside="optional" path="throttle" hint="Limits how fast calls are created.">
          <Combobox
            value={draft.throttle}
            options={throttles}
            onChange={(throttle) => set({ throttle })}
            free
            placeholder="None"
          />
        </Field>
      </Columns>
      <Switch
        label="Paused"
        hint="No calls are created until you resume the batch. The end time does not move."
        path="paused"
        checked={draft.paused}
        onChange={(paused) => set({ paused })}
      />
    </Card>
  );
}

function WebhookFields({ draft, set, hasSecret }: SettingsFieldsProps) {
  return (
    <Card title="Webhook" text="Receives the join URL of each call. Not used for phone and SIP calls.">
      <Columns>
        <TextField
          label="URL"
          aside="optional"
          path="webhookUrl"
          hint="Required, unless all calls are phone or SIP calls."
          inputMode="url"
          spellCheck={false}
          maxLength={200}
          placeholder="https://"
          value={draft.webhookUrl}
          onChange={(webhookUrl) => set({ webhookUrl })}
        />
        <TextField
          label="Secret"
          aside="optional"
          path="webhookSecret"
          hint={
            hasSecret
              ? "Leave empty to keep the current secret."
              : "Signs the requests. Leave empty to generate a secret."
          }
          spellCheck={false}
          autoComplete="off"
          maxLength={120}
          value={draft.webhookSecret}
          onChange={(webhookSecret) => set({ webhookSecret })}
        />
      </Columns>
    </Card>
  );
}

function LimitFields({ draft, set }: SettingsFieldsProps) {
  return (
    <Card title="Limits">
      <Columns>
        <TextField
          label="Pause at this failure rate"
          aside="0 to 1"
          path="pauseOnFailureRate"
          hint="The batch pauses when this share of calls fails within 2 minutes. At least 5 calls are counted."
          inputMode="decimal"
          value={draft.pauseOnFailureRate}
          onChange={(pauseOnFailureRate) => set({ pauseOnFailureRate })}
        />
      </Columns>
      <Switch
        label="Limit calling hours"
        path="callingHours"
        checked={draft.hours}
        onChange={(hours) => set({ hours })}
      />
      {draft.hours && <HourFields draft={draft} set={set} />}
    </Card>
  );
}

function PhoneFields({ draft, set }: SettingsFieldsProps) {
  return (
    <Card title="Phone calls" text="For calls that the service dials.">
      <Switch
        label="Skip numbers on the do-not-call list"
        path="respectDoNotCall"
        checked={draft.respectDoNotCall}
        onChange={(respectDoNotCall) => set({ respectDoNotCall })}
      />
      <Columns>
        <TextField
          label="Calls per number per day"
          aside="1 to 20"
          path="maxAttemptsPerNumberPerDay"
          hint="Leave empty for no limit."
          inputMode="numeric"
          value={draft.maxPerDay}
          onChange={(maxPerDay) => set({ maxPerDay })}
        />
      </Columns>
      <Switch
        label="Retry failed calls"
        path="retryPolicy"
        checked={draft.retries}
        onChange={(retries) => set({ retries })}
      />
      {draft.retries && <RetryFields draft={draft} set={set} />}
    </Card>
  );
}

function RetryFields({ draft, set }: SettingsFieldsProps) {
  return (
    <>
      <Columns>
        <TextField
          label="Maximum attempts"
          aside="1 to 5"
          path="retryPolicy.maxAttempts"
          inputMode="numeric"
          value={draft.maxAttempts}
          onChange={(maxAttempts) => set({ maxAttempts })}
        />
        <TextField
          label="Retry delay"
          aside="for example, 600s"
          path="retryPolicy.wait"
          hint="Time between the end of a call and the next attempt."
          value={draft.wait}
          onChange={(wait) => set({ wait })}
        />
      </Columns>
      <Checks
        legend="Retry after"
        path="retryPolicy.on"
        choices={OUTCOMES}
        chosen={draft.on}
        onChange={(on) => set({ on })}
      />
    </>
  );
}

function HourFields({ draft, set }: SettingsFieldsProps) {
  return (
    <>
      <Columns>
        <TextField
          label="From"
          path="callingHours.start"
          type="time"
          value={draft.start}
          onChange={(start) => set({ start })}
        />
        <TextField
          label="To"
          path="callingHours.end"
          type="time"
          value={draft.end}
          onChange={(end) => set({ end })}
        />
        <TextField
          label="Time zone"
          path="callingHours.timeZone"
          hint="Such as Europe/Zurich. For phone calls, callee uses the time zone of the number."
          spellCheck={false}
          value={draft.timeZone}
          onChange={(timeZone) => set({ timeZone })}
        />
      </Columns>
      <Checks
        legend="Days"
        path="callingHours.days"
        choices={DAYS}
        chosen={draft.days}
        onChange={(days) => set({ days })}
      />
      <Note>
        Your time zone is <code>{Intl.DateTimeFormat().resolvedOptions().timeZone}</code>.
      </Note>
    </>
  );
}
