/** Name, retries, calling hours and limits of a batch. */

import { z } from "zod";
import { asObject, asText, withRule } from "../values/check.ts";
import { boundedDuration } from "../values/duration.ts";
import { name, ranged, wholeNumber } from "../values/fields.ts";

export const MAX_BATCH_NAME_LENGTH = 100;
export const MAX_ATTEMPTS = 5;
const MAX_RETRY_WAIT_MS = 86_400_000;
const MAX_ATTEMPTS_PER_DAY = 20;
export const DEFAULT_PAUSE_ON_FAILURE_RATE = 0.5;

function unique<T>(items: T[]): T[] {
  return [...new Set(items)];
}

/** When to dial a number again after a failed attempt. */
export const RetryPolicy = z.strictObject({
  maxAttempts: wholeNumber(1, MAX_ATTEMPTS).describe("Attempts per scheduled call, including the first."),
  wait: boundedDuration({ maxMs: MAX_RETRY_WAIT_MS }).describe(
    "From the end of an attempt to the next attempt.",
  ),
  on: z
    .array(z.enum(["busy", "no_answer", "failed", "machine"]))
    .min(1)
    .overwrite(unique)
    .describe("Outcomes that are retried."),
});
export type RetryPolicy = z.output<typeof RetryPolicy>;

/** The time zone that the number of the callee belongs to. */
const OF_CALLEE = "callee";

function isTimeZone(text: string): boolean {
  if (text === OF_CALLEE) return true;
  // `Intl` also accepts offsets, but they do not follow daylight saving time.
  if (!/^[a-z]/i.test(text)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

const TimeOfDay = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, { error: "must be a time such as 09:30" });

/** When people may be called. */
export const CallingHours = withRule(
  z.strictObject({
    timeZone: z
      .string()
      .max(64)
      .refine(isTimeZone, { error: `must be a time zone such as Europe/Zurich, or ${OF_CALLEE}` })
      .describe("An IANA time zone, or `callee` for the time zone of the dialled number."),
    days: z
      .array(z.enum(["mon", "tue", "wed", "thu", "fri", "sat", "sun"]))
      .min(1)
      .overwrite(unique),
    start: TimeOfDay,
    end: TimeOfDay.describe("After `start`."),
  }),
  (value, report) => {
    const { start, end } = asObject(value) ?? {};
    const [from, to] = [asText(start), asText(end)];
    if (from === null || to === null || !TimeOfDay.safeParse(from).success) return;
    if (TimeOfDay.safeParse(to).success && to <= from) report(["end"], "must be after start");
  },
).meta({
  examples: [{ timeZone: "Europe/Zurich", days: ["mon", "tue"], start: "09:00", end: "18:00" }],
});
export type CallingHours = z.output<typeof CallingHours>;

const BatchName = name(MAX_BATCH_NAME_LENGTH);
const AttemptsPerDay = wholeNumber(1, MAX_ATTEMPTS_PER_DAY);
const FailureRate = ranged(0, 1);

/** The fields in a new batch. */
export const batchExtensions = {
  name: BatchName.optional().describe("For people: lists show it. It need not be unique."),
  retryPolicy: RetryPolicy.optional().describe("Unset: no retries."),
  callingHours: CallingHours.optional().describe("Unset: calls at any hour."),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.optional().describe("Unset: no limit."),
  respectDoNotCall: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Do not dial numbers on the do-not-call list."),
  pauseOnFailureRate: FailureRate.meta({ default: DEFAULT_PAUSE_ON_FAILURE_RATE })
    .optional()
    .describe("Share of failures, of at least 5 outcomes within 2 minutes, that pauses the batch."),
};

/** The fields in a change: null clears a field or restores its default. */
export const clearableExtensions = {
  name: BatchName.nullable().optional(),
  retryPolicy: RetryPolicy.nullable().optional(),
  callingHours: CallingHours.nullable().optional(),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.nullable().optional(),
  respectDoNotCall: z.boolean().nullable().optional(),
  pauseOnFailureRate: FailureRate.nullable().optional(),
};

/** The fields in a response. */
export const shownExtensions = {
  name: BatchName.nullable(),
  retryPolicy: RetryPolicy.nullable(),
  callingHours: CallingHours.nullable(),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.nullable(),
  respectDoNotCall: z.boolean(),
  pauseOnFailureRate: FailureRate,
  pauseReason: z
    .string()
    .nullable()
    .describe("Why the service paused the batch; null if a user paused it or it is not paused."),
};
