/** The settings of a batch in the form, and as the API takes them. */

import type { BatchPatch, BatchSettings, ScheduledCallBatch } from "@parley/schema";
import type { FieldFault } from "../../ui/field-errors.tsx";

export const OUTCOMES = [
  { value: "busy", label: "Busy" },
  { value: "no_answer", label: "No answer" },
  { value: "machine", label: "Answering machine" },
  { value: "failed", label: "Failed" },
] as const;
type Outcome = (typeof OUTCOMES)[number]["value"];

export const DAYS = [
  { value: "mon", label: "Mon" },
  { value: "tue", label: "Tue" },
  { value: "wed", label: "Wed" },
  { value: "thu", label: "Thu" },
  { value: "fri", label: "Fri" },
  { value: "sat", label: "Sat" },
  { value: "sun", label: "Sun" },
] as const;
type Day = (typeof DAYS)[number]["value"];

/** Texts as typed; empty: unset. */
export interface SettingsDraft {
  readonly name: string;
  /** The value of `<input type="datetime-local">`, in local time. */
  readonly windowStart: string;
  readonly windowEnd: string;
  readonly throttle: string;
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  readonly paused: boolean;
  readonly retries: boolean;
  readonly maxAttempts: string;
  readonly wait: string;
  readonly on: readonly Outcome[];
  readonly hours: boolean;
  readonly timeZone: string;
  readonly days: readonly Day[];
  readonly start: string;
  readonly end: string;
  readonly maxPerDay: string;
  readonly respectDoNotCall: boolean;
  /** 0 to 1, as text. */
  readonly pauseOnFailureRate: string;
}

export const NEW_SETTINGS: SettingsDraft = {
  name: "",
  windowStart: "",
  windowEnd: "",
  throttle: "",
  webhookUrl: "",
  webhookSecret: "",
  paused: false,
  retries: false,
  maxAttempts: "2",
  wait: "600s",
  on: ["busy", "no_answer"],
  hours: false,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  days: ["mon", "tue", "wed", "thu", "fri"],
  start: "09:00",
  end: "18:00",
  maxPerDay: "",
  respectDoNotCall: true,
  pauseOnFailureRate: "0.5",
};

export function draftOf(batch: ScheduledCallBatch): SettingsDraft {
  const { retryPolicy, callingHours } = batch;
  return {
    name: batch.name ?? "",
    windowStart: localOf(batch.windowStart),
    windowEnd: localOf(batch.windowEnd),
    throttle: batch.throttle ?? "",
    webhookUrl: batch.webhookUrl ?? "",
    webhookSecret: "",
    paused: batch.paused,
    retries: retryPolicy !== null,
    maxAttempts: String(retryPolicy?.maxAttempts ?? NEW_SETTINGS.maxAttempts),
    wait: retryPolicy?.wait ?? NEW_SETTINGS.wait,
    on: retryPolicy?.on ?? NEW_SETTINGS.on,
    hours: callingHours !== null,
    timeZone: callingHours?.timeZone ?? NEW_SETTINGS.timeZone,
    days: callingHours?.days ?? NEW_SETTINGS.days,
    start: callingHours?.start ?? NEW_SETTINGS.start,
    end: callingHours?.end ?? NEW_SETTINGS.end,
    maxPerDay: batch.maxAttemptsPerNumberPerDay === null ? "" : String(batch.maxAttemptsPerNumberPerDay),
    respectDoNotCall: batch.respectDoNotCall,
    pauseOnFailureRate: String(batch.pauseOnFailureRate),
  };
}

/** Errors that the service cannot find: invalid times are not sent, and an end before the start. */
export function settingsFaults(draft: SettingsDraft): FieldFault[] {
  const faults: FieldFault[] = [];
  const { windowStart, windowEnd } = draft;
  if (windowStart !== "" && windowEnd !== "" && windowEnd <= windowStart)
    faults.push({ field: "windowEnd", message: "must be after the start" });
  if (draft.hours && draft.days.length === 0)
    faults.push({ field: "callingHours.days", message: "must have at least one day" });
  if (draft.retries && draft.on.length === 0)
    faults.push({ field: "retryPolicy.on", message: "must have at least one outcome" });
  return faults;
}

/** Retries, calling hours and limits of a batch, in words; null: not set. */
export function limitsOf(
  batch: ScheduledCallBatch,
): readonly (readonly [label: string, value: string | null])[] {
  const { callingHours: hours, retryPolicy: retries, maxAttemptsPerNumberPerDay: most } = batch;
  const labelsOf = <Value extends string>(
    choices: readonly { readonly value: Value; readonly label: string }[],
    chosen: readonly Value[],
  ) => choices.flatMap(({ value, label }) => (chosen.includes(value) ? [label] : [])).join(", ");
  return [
    [
      "Calling hours",
      hours === null
        ? null
        : `${labelsOf(DAYS, hours.days)}, ${hours.start} to ${hours.end}, ${hours.timeZone === "callee" ? "in the time zone of the number" : hours.timeZone}`,
    ],
    [
      "Retries",
      retries === null
        ? null
        : `up to ${String(retries.maxAttempts)} attempts, ${retries.wait} apart, after: ${labelsOf(OUTCOMES, retries.on).toLowerCase()}`,
    ],
    ["Calls per number per day", most === null ? null : `at most ${String(most)}`],
    ["Do-not-call list", batch.respectDoNotCall ? null : "ignored"],
  ];
}

export function settingsOf(draft: SettingsDraft): BatchSettings {
  return Object.fromEntries(
    Object.entries(fieldsOf(draft)).filter(([, value]) => value !== null && value !== undefined),
  );
}

/** Only changed fields, so that a window that has started is not refused for being in the past. */
export function patchOf(draft: SettingsDraft, before: SettingsDraft): BatchPatch {
  const old = fieldsOf(before);
  const changed = Object.entries(fieldsOf(draft)).filter(
    ([name, value]) =>
      value !== undefined && JSON.stringify(value) !== JSON.stringify(old[name as keyof BatchPatch]),
  );
  return Object.fromEntries(changed);
}

function fieldsOf(draft: SettingsDraft): BatchPatch {
  const { retries, maxAttempts, wait, on, hours, timeZone, days, start, end } = draft;
  return {
    name: textOf(draft.name),
    windowStart: momentOf(draft.windowStart),
    windowEnd: momentOf(draft.windowEnd),
    throttle: textOf(draft.throttle),
    webhookUrl: textOf(draft.webhookUrl),
    // Empty: the stored secret stays, or the service makes one.
    webhookSecret: textOf(draft.webhookSecret) ?? undefined,
    paused: draft.paused,
    retryPolicy: retries ? { maxAttempts: numberOf(maxAttempts) ?? 0, wait: wait.trim(), on: [...on] } : null,
    callingHours: hours ? { timeZone: timeZone.trim(), days: [...days], start, end } : null,
    maxAttemptsPerNumberPerDay: numberOf(draft.maxPerDay),
    respectDoNotCall: draft.respectDoNotCall,
    pauseOnFailureRate: numberOf(draft.pauseOnFailureRate),
  };
}

function textOf(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

/** A text that is no number becomes a value that the service refuses at its field. */
function numberOf(text: string): number | null {
  if (text.trim() === "") return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : -1;
}

function momentOf(local: string): string | null {
  const ms = local === "" ? Number.NaN : new Date(local).getTime();
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function localOf(at: string | null): string {
  if (at === null) return "";
  const moment = new Date(at);
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
