/** Which SIP calls an account accepts, and where it registers. */

import { z } from "zod";
import { ignoring, keepable, sealed, text, Timestamp, Uuid, writeOnly } from "../values/fields.ts";
import { url } from "../values/http-parts.ts";
import { compileLinearPattern } from "../values/linear-pattern.ts";
import { PatternError } from "../values/pattern-syntax.ts";

const RANGE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/;
/** A carrier publishes up to a few dozen ranges. */
const MAX_RANGES = 100;
const MAX_ALLOWED_AGENTS = 20;
const MAX_PATTERN_LENGTH = 200;
const MAX_SECRETS = 10;
const MAX_SECRET_LENGTH = 120;

/** The IPv4 range with its host bits cleared, or null if it is invalid. A single address is a range of one. */
function canonicalRange(range: string): string | null {
  const [, ...parts] = RANGE.exec(range) ?? [];
  const octets = parts.slice(0, 4);
  const bits = Number(parts[4] ?? "32");
  const isAddress = octets.length === 4 && octets.every((part) => Number(part) <= 255 && !/^0\d/.test(part));
  if (!isAddress || bits > 32 || /^0\d/.test(parts[4] ?? "")) return null;
  const masked = octets.map((octet, index) => {
    const open = 8 - Math.min(8, Math.max(0, bits - 8 * index));
    return Math.floor(Number(octet) / 2 ** open) * 2 ** open;
  });
  return `${masked.join(".")}/${bits}`;
}

const Ipv4Range = z
  .string()
  .refine((range) => canonicalRange(range) !== null, {
    error: "must be an IPv4 range such as 203.0.113.0/24",
  })
  .overwrite((range) => canonicalRange(range) ?? range)
  .meta({ examples: ["203.0.113.0/24"] });

function patternProblem(pattern: string): string | null {
  try {
    compileLinearPattern(pattern);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

const ToUserPattern = text(1, MAX_PATTERN_LENGTH)
  .superRefine((pattern, context) => {
    const problem = patternProblem(pattern);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  })
  .describe(
    "A regular expression that must match the whole user part of the called address. No back-references or look-around.",
  );

const AllowedAgent = z.strictObject({ agentId: Uuid, toUserPattern: ToUserPattern.optional() });

const Secrets = z.array(text(1, MAX_SECRET_LENGTH)).min(1).max(MAX_SECRETS);

const ranges = z
  .array(Ipv4Range)
  .max(MAX_RANGES)
  .overwrite((given) => [...new Set(given)])
  .describe("Source addresses that may call.");
const allowAllAgents = z.boolean().describe("Whether all agents can be called, at `agent_{agent_id}`.");
const allowedAgents = z
  .array(AllowedAgent)
  .max(MAX_ALLOWED_AGENTS)
  .describe("Agents that can be called. The first matching pattern applies.");

/** The SIP configuration of an account as the API returns it. */
export const SipConfig = z.strictObject({
  allowedCidrRanges: ranges,
  allowAllAgents,
  allowedAgents,
  fallbackHandler: z
    .strictObject({ url: url(["http", "https"]), secrets: sealed(Secrets, "admin") })
    .nullable()
    .describe("Receives a request for each call that names no agent."),
  domain: z.string().describe("The host part of the account's SIP addresses."),
  enabled: z
    .boolean()
    .describe(
      "Whether the account can use SIP: the deployment has it, and the operator has allowed the account.",
    ),
});
export type SipConfig = z.output<typeof SipConfig>;

/** The body that changes the SIP configuration. Absent fields stay unchanged; null restores the default. */
export const SipConfigPatch = ignoring(
  z.strictObject({
    allowedCidrRanges: ranges.nullable().optional(),
    allowAllAgents: allowAllAgents.nullable().optional(),
    allowedAgents: allowedAgents.nullable().optional(),
    fallbackHandler: z
      .strictObject({
        url: url(["http", "https"]),
        secrets: sealed(Secrets, "admin")
          .optional()
          .describe(
            "Sign the requests. Absent: the stored secrets stay; if there are none, the service makes one.",
          ),
      })
      .nullable()
      .optional(),
  }),
  ["domain", "enabled"],
).meta({
  examples: [
    {
      allowedCidrRanges: ["203.0.113.0/24"],
      fallbackHandler: { url: "https://shop.example/sip", secrets: ["a secret of yours"] },
    },
  ],
});
export type SipConfigPatch = z.output<typeof SipConfigPatch>;

/** Text that is copied into a SIP address. */
function addressPart(max: number) {
  return text(1, max).refine((value) => !/[\s\p{Cc}<>"]/u.test(value), {
    error: "must not contain spaces, control characters, quotation marks or angle brackets",
  });
}

const PROXY =
  /^(?:sips?:)?(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?(?:;[\w.=-]+)*$/;

const Proxy = text(1, 100).refine((value) => PROXY.test(value), {
  error: "must be a host or a SIP address, such as sip.carrier.example:5060",
});

const Username = addressPart(60);
const AuthUser = addressPart(60);
const Password = writeOnly(text(1, 200));

/** A registration as the API returns it. */
export const SipRegistration = z.strictObject({
  registrationId: z.string(),
  created: Timestamp,
  username: Username,
  proxy: Proxy,
  outboundProxy: Proxy.nullable(),
  authUser: AuthUser.nullable(),
  successful: z
    .boolean()
    .nullable()
    .describe("Whether the registrar accepted the last attempt; null before its first response."),
  lastStatus: z
    .int()
    .nullable()
    .describe(
      "Status of the last answer. Without an answer, 408 (no response), 503 (no connection or no address) or 403 " +
        "(an address that is not allowed). Null before the first attempt has ended.",
    ),
  lastReason: z.string().nullable().describe("The words of the answer, or why there is none."),
  lastAttempt: Timestamp.nullable().describe("When the last attempt ended."),
  nextAttempt: Timestamp.nullable().describe("When the registration is refreshed or tried again."),
});
export type SipRegistration = z.output<typeof SipRegistration>;

const SHOWN_ONLY = [
  "registrationId",
  "created",
  "successful",
  "lastStatus",
  "lastReason",
  "lastAttempt",
  "nextAttempt",
];

/** The body that creates a registration. */
export const SipRegistrationWrite = ignoring(
  z.strictObject({
    username: Username,
    password: Password,
    proxy: Proxy,
    outboundProxy: Proxy.optional(),
    authUser: AuthUser.optional().describe("Unset: the username."),
  }),
  SHOWN_ONLY,
).meta({
  examples: [{ username: "1000", password: "a password", proxy: "sip.carrier.example" }],
});
export type SipRegistrationWrite = z.output<typeof SipRegistrationWrite>;

/** The body that changes a registration. */
export const SipRegistrationPatch = ignoring(
  z.strictObject({
    username: keepable(Username),
    password: keepable(Password),
    proxy: keepable(Proxy),
    outboundProxy: Proxy.nullable().optional(),
    authUser: AuthUser.nullable().optional(),
  }),
  SHOWN_ONLY,
);
export type SipRegistrationPatch = z.output<typeof SipRegistrationPatch>;
