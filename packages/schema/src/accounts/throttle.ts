/** Call throttles limit how many calls may be created in a time. */

import { z } from "zod";
import { ignoring, name, Timestamp, Uuid, wholeNumber } from "../values/fields.ts";

export const MAX_THROTTLE_NAME_LENGTH = 64;
/** Each rule costs one lookup per call. */
export const MAX_THROTTLE_RULES = 10;
export const MAX_CALLS_OF_A_RULE = 100;
/** A day. */
export const MAX_WINDOW_SECONDS = 86_400;

/** At most `maxCalls` calls in any `windowSeconds` seconds. */
export const ThrottleRule = z.strictObject({
  maxCalls: wholeNumber(1, MAX_CALLS_OF_A_RULE).describe("Most calls in any window."),
  windowSeconds: wholeNumber(1, MAX_WINDOW_SECONDS).describe("Length of the sliding window."),
});
export type ThrottleRule = z.output<typeof ThrottleRule>;

const ThrottleName = name(MAX_THROTTLE_NAME_LENGTH);
const Rules = z
  .array(ThrottleRule)
  .min(1, { error: "must have at least one rule" })
  .max(MAX_THROTTLE_RULES, { error: `must have at most ${MAX_THROTTLE_RULES} rules` })
  .describe("A call is created when all rules allow it.");

/** A throttle as the API returns it. */
export const CallThrottle = z.strictObject({
  throttleId: Uuid,
  name: ThrottleName,
  created: Timestamp,
  rules: Rules,
});
export type CallThrottle = z.output<typeof CallThrottle>;

const READ_ONLY = ["throttleId", "created"];

/** The body that creates or replaces a throttle. */
export const CallThrottleWrite = ignoring(
  z.strictObject({ name: ThrottleName, rules: Rules }),
  READ_ONLY,
).meta({
  examples: [{ name: "gently", rules: [{ maxCalls: 2, windowSeconds: 1 }] }],
});
export type CallThrottleWrite = z.output<typeof CallThrottleWrite>;

/** The body that changes a throttle. */
export const CallThrottlePatch = ignoring(
  z.strictObject({ name: ThrottleName.optional(), rules: Rules.optional() }),
  READ_ONLY,
);
export type CallThrottlePatch = z.output<typeof CallThrottlePatch>;
