/** Schedule, limits and webhook of a batch. */

import { notes } from "virtual:field-notes/BatchWrite";
import { Combobox } from "../../ui/combobox.tsx";
import { Card } from "../../ui/display.tsx";
import { Field, Switch } from "../../ui/field.tsx";
import { Columns, Note } from "../../ui/form.tsx";
import { Checks } from "../../ui/parts.tsx";
import { TextField } from "../../ui/text-field.tsx";
import { useThrottles } from "./throttles.ts";
import { DAYS, OUTCOMES, type SettingsDraft } from "./batch-draft.ts";

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
      <ManyFields draft={draft} set={set} />
    </>
  );
}

function WindowFields({ draft, set }: SettingsFieldsProps) {
  const throttles = useThrottles();
  return (
    <Card title="Schedule">
      <Columns>
        <TextField
          label="Starts"
          aside="your time"
          path="windowStart"
          hint="Empty: immediately."
          type="datetime-local"
          value={draft.windowStart}
          onChange={(windowStart) => set({ windowStart })}
        />
        <TextField
          label="Ends"
          aside="your time"
          path="windowEnd"
          hint="Empty: when all calls are created."
          type="datetime-local"
          value={draft.windowEnd}
          onChange={(windowEnd) => set({ windowEnd })}
        />
        <Field
          label="Throttle"
          aside="optional"
          path="throttle"
          hint="Limits how many calls are created in a time."
        >
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
        hint="No calls are created until you resume the batch. The window still ends on time."
        path="paused"
        checked={draft.paused}
        onChange={(paused) => set({ paused })}
      />
    </Card>
  );
}

function WebhookFields({ draft, set, hasSecret }: SettingsFieldsProps) {
  return (
    <Card title="Webhook" text="Receives the join URLs of calls that the service does not dial.">
      <Columns>
        <TextField
          label="URL"
          aside="only if needed"
          path="webhookUrl"
          hint="Required if a call is not dialled, refused if all calls are dialled."
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
              ? "Empty: keep the current secret."
              : "Signs the requests. Empty: the service makes one."
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

function ManyFields({ draft, set }: SettingsFieldsProps) {
  return (
    <Card title="Retries and limits">
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
          hint="Empty: no limit."
          inputMode="numeric"
          value={draft.maxPerDay}
          onChange={(maxPerDay) => set({ maxPerDay })}
        />
        <TextField
          label="Pause at failure rate"
          aside="0 to 1"
          path="pauseOnFailureRate"
          hint={notes["pauseOnFailureRate"]?.hint}
          inputMode="decimal"
          value={draft.pauseOnFailureRate}
          onChange={(pauseOnFailureRate) => set({ pauseOnFailureRate })}
        />
      </Columns>
      <Switch
        label="Retry failed calls"
        path="retryPolicy"
        checked={draft.retries}
        onChange={(retries) => set({ retries })}
      />
      {draft.retries && <RetryFields draft={draft} set={set} />}
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

function RetryFields({ draft, set }: SettingsFieldsProps) {
  return (
    <>
      <Columns>
        <TextField
          label="Attempts"
          aside="1 to 5"
          path="retryPolicy.maxAttempts"
          inputMode="numeric"
          value={draft.maxAttempts}
          onChange={(maxAttempts) => set({ maxAttempts })}
        />
        <TextField
          label="Retry delay"
          aside="such as 600s"
          path="retryPolicy.wait"
          hint={notes["retryPolicy.wait"]?.hint}
          value={draft.wait}
          onChange={(wait) => set({ wait })}
        />
      </Columns>
      <Checks
        legend="After"
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
          hint={notes["callingHours.timeZone"]?.hint}
          spellCheck={false}
          value={draft.timeZone}
          onChange={(timeZone) => set({ timeZone })}
        />
      </Columns>
      <Checks
        legend="On"
        path="callingHours.days"
        choices={DAYS}
        chosen={draft.days}
        onChange={(days) => set({ days })}
      />
      <Note>
        Your own time zone is <code>{Intl.DateTimeFormat().resolvedOptions().timeZone}</code>.
      </Note>
    </>
  );
}
