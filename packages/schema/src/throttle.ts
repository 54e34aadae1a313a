/** Call throttles: rules about how many calls may be created in which time. */

import { z } from "zod";
import { ignoring, name, Timestamp, Uuid, wholeNumber } from "./fields.ts";

export const MAX_THROTTLE_NAME_LENGTH = 64;
/** Each rule is one look-up per call. */
export const MAX_THROTTLE_RULES = 10;
export const MAX_CALLS_OF_A_RULE = 100;
/** A day. */
export const MAX_WINDOW_SECONDS = 86_400;

/** At most so many calls in any stretch of time of this length. */
export const ThrottleRule = z.strictObject({
  maxCalls: wholeNumber(1, MAX_CALLS_OF_A_RULE).describe("Calls in any window."),
  windowSeconds: wholeNumber(1, MAX_WINDOW_SECONDS).describe("Length of the window, which slides."),
});
export type ThrottleRule = z.output<typeof ThrottleRule>;

const ThrottleName = name(MAX_THROTTLE_NAME_LENGTH);
const Rules = z
  .array(ThrottleRule)
  .min(1, { error: "must have at least one rule" })
  .max(MAX_THROTTLE_RULES, { error: `must have at most ${MAX_THROTTLE_RULES} rules` })
  .describe("All of them must allow a call.");

/** A throttle as it is answered. */
export const CallThrottle = z.strictObject({
  throttleId: Uuid,
  name: ThrottleName,
  created: Timestamp,
  rules: Rules,
});
export type CallThrottle = z.output<typeof CallThrottle>;

const READ_ONLY = ["throttleId", "created"];

/** The body that creates a throttle, or replaces one as a whole. */
export const CallThrottleWrite = ignoring(
  z.strictObject({ name: ThrottleName, rules: Rules }),
  READ_ONLY,
).meta({
  examples: [{ name: "gently", rules: [{ maxCalls: 2, windowSeconds: 1 }] }],
});
export type CallThrottleWrite = z.output<typeof CallThrottleWrite>;

/** The body that changes one. */
export const CallThrottlePatch = ignoring(
  z.strictObject({ name: ThrottleName.optional(), rules: Rules.optional() }),
  READ_ONLY,
);
export type CallThrottlePatch = z.output<typeof CallThrottlePatch>;
