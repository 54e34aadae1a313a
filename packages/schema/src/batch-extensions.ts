/** What a batch can have beyond when and how fast: second attempts, decent hours, an end to what goes wrong. */

import { z } from "zod";
import { asObject, asText, withRule } from "./check.ts";
import { boundedDuration } from "./duration.ts";
import { ranged, wholeNumber } from "./fields.ts";

export const MAX_ATTEMPTS = 5;
const MAX_RETRY_WAIT_MS = 86_400_000;
const MAX_ATTEMPTS_PER_DAY = 20;
export const DEFAULT_PAUSE_ON_FAILURE_RATE = 0.5;

function unique<T>(items: T[]): T[] {
  return [...new Set(items)];
}

/** When a number that was not reached is dialled again. */
export const RetryPolicy = z.strictObject({
  maxAttempts: wholeNumber(1, MAX_ATTEMPTS).describe(
    "Attempts at one scheduled call, the first one included.",
  ),
  wait: boundedDuration({ maxMs: MAX_RETRY_WAIT_MS }).describe("From the end of an attempt to the next one."),
  on: z
    .array(z.enum(["busy", "no_answer", "failed"]))
    .min(1)
    .overwrite(unique)
    .describe("Outcomes after which there is another attempt."),
});
export type RetryPolicy = z.output<typeof RetryPolicy>;

/** The time zone that the number of the callee belongs to. */
const OF_CALLEE = "callee";

function isTimeZone(text: string): boolean {
  if (text === OF_CALLEE) return true;
  // Offsets are known as well, but they do not follow summer time.
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
      .describe("An IANA name, or `callee`: that of the dialled number."),
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

const AttemptsPerDay = wholeNumber(1, MAX_ATTEMPTS_PER_DAY);
const FailureRate = ranged(0, 1);

/** Fields of a new batch. */
export const batchExtensions = {
  retryPolicy: RetryPolicy.optional().describe("Unset: each number is dialled once."),
  callingHours: CallingHours.optional().describe("Unset: at any hour."),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.optional().describe("Unset: not limited."),
  respectDoNotCall: z
    .boolean()
    .meta({ default: true })
    .optional()
    .describe("Numbers of the do-not-call list are not dialled."),
  pauseOnFailureRate: FailureRate.meta({ default: DEFAULT_PAUSE_ON_FAILURE_RATE })
    .optional()
    .describe("Pauses the batch when so many of at least 5 outcomes within 2 minutes were failures."),
};

/** The same in a change: null clears, or brings back the default. */
export const clearableExtensions = {
  retryPolicy: RetryPolicy.nullable().optional(),
  callingHours: CallingHours.nullable().optional(),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.nullable().optional(),
  respectDoNotCall: z.boolean().nullable().optional(),
  pauseOnFailureRate: FailureRate.nullable().optional(),
};

/** The same in an answer. */
export const shownExtensions = {
  retryPolicy: RetryPolicy.nullable(),
  callingHours: CallingHours.nullable(),
  maxAttemptsPerNumberPerDay: AttemptsPerDay.nullable(),
  respectDoNotCall: z.boolean(),
  pauseOnFailureRate: FailureRate,
  pauseReason: z
    .string()
    .nullable()
    .describe("Why the service paused the batch; null where a person did, and where it is not paused."),
};
