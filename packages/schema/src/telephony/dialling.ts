/** What an account may dial, which agents answer its numbers, and what the check of a carrier finds. */

import { z } from "zod";
import { ignoring, Timestamp, Uuid, wholeNumber } from "../values/fields.ts";
import { DialledAddress } from "../values/phone-number.ts";

/** Countries have about 220 codes. */
const MAX_PREFIXES = 300;
const MAX_CALLS_PER_DAY = 1_000_000;
const MAX_MINUTES_PER_DAY = 10_000_000;

const Prefix = z
  .string()
  .regex(/^\+[1-9]\d{0,14}$/, { error: "must be the beginning of a number in E.164 form, such as +49" });
const Prefixes = z
  .array(Prefix)
  .max(MAX_PREFIXES)
  .overwrite((prefixes) => [...new Set(prefixes)])
  .describe("Numbers that the service may dial begin with one of these, such as `+49`. Empty: all numbers.");
const Calls = wholeNumber(0, MAX_CALLS_PER_DAY)
  .nullable()
  .describe("Calls that the service dials within 24 hours. Null: no limit.");
const Minutes = wholeNumber(0, MAX_MINUTES_PER_DAY)
  .nullable()
  .describe(
    "Minutes of dialled calls within 24 hours, after which no further call is dialled. Null: no limit.",
  );

/** The rules as the API returns them. */
export const DiallingRules = z.strictObject({
  allowedPrefixes: Prefixes,
  maxCallsPerDay: Calls,
  maxMinutesPerDay: Minutes,
});
export type DiallingRules = z.output<typeof DiallingRules>;

/** The body that changes the rules. Absent fields stay unchanged; null removes a rule. */
export const DiallingRulesPatch = z
  .strictObject({
    allowedPrefixes: Prefixes.nullable().optional(),
    maxCallsPerDay: Calls.optional(),
    maxMinutesPerDay: Minutes.optional(),
  })
  .meta({ examples: [{ allowedPrefixes: ["+49", "+41"], maxCallsPerDay: 500, maxMinutesPerDay: 1500 }] });
export type DiallingRulesPatch = z.output<typeof DiallingRulesPatch>;

/** A number of the account, and the agent that answers it. */
export const PhoneNumber = z.strictObject({ number: DialledAddress, agentId: Uuid, created: Timestamp });
export type PhoneNumber = z.output<typeof PhoneNumber>;

/** The body that assigns a number to an agent. */
export const PhoneNumberWrite = ignoring(
  z.strictObject({
    number: DialledAddress.describe("An E.164 number or a SIP URI, as the carrier names it in `To`."),
    agentId: Uuid.describe("The agent that answers calls to the number."),
  }),
  ["created"],
).meta({ examples: [{ number: "+4930123456", agentId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" }] });
export type PhoneNumberWrite = z.output<typeof PhoneNumberWrite>;

/** One thing that the check of a carrier has found. */
export const TelephonyFinding = z.strictObject({
  severity: z
    .enum(["error", "warning"])
    .describe("`error`: calls fail. `warning`: some calls fail, or those in one direction."),
  field: z.string().nullable().describe("The field of the configuration. Null: none is the cause."),
  message: z.string().describe("What is wrong, and what to do."),
});

export type TelephonyFinding = z.output<typeof TelephonyFinding>;

/** The answer of the check of a carrier. */
export const TelephonyCheck = z.strictObject({
  ok: z.boolean().describe("No finding is an error."),
  findings: z.array(TelephonyFinding),
});
export type TelephonyCheck = z.output<typeof TelephonyCheck>;
