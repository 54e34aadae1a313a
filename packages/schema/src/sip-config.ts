/** Which calls by SIP an account takes, and where it registers. */

import { z } from "zod";
import { ignoring, keepable, sealed, text, Timestamp, Uuid, writeOnly } from "./fields.ts";
import { url } from "./http-parts.ts";
import { compileLinearPattern, PatternError } from "./linear-pattern.ts";

const RANGE = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/;
/** A carrier names a handful to some dozens. */
const MAX_RANGES = 100;
const MAX_ALLOWED_AGENTS = 20;
const MAX_PATTERN_LENGTH = 200;
const MAX_SECRETS = 10;
const MAX_SECRET_LENGTH = 120;

/** The range without the bits that it leaves open, or null for what is no IPv4 range. One address is its own range. */
function canonicalRange(range: string): string | null {
  const [, ...parts] = RANGE.exec(range) ?? [];
  const octets = parts.slice(0, 4);
  const bits = Number(parts[4] ?? "32");
  const isAddress = octets.length === 4 && octets.every((part) => Number(part) <= 255 && !/^0\d/.test(part));
  if (!isAddress || bits > 32 || /^0\d/.test(parts[4] ?? "")) return null;
  const kept = octets.map((octet, index) => {
    const open = 8 - Math.min(8, Math.max(0, bits - 8 * index));
    return Math.floor(Number(octet) / 2 ** open) * 2 ** open;
  });
  return `${kept.join(".")}/${bits}`;
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
    "A regular expression over the whole user part of the address that is called; without back-references and look-around.",
  );

const AllowedAgent = z.strictObject({ agentId: Uuid, toUserPattern: ToUserPattern.optional() });

const Secrets = z.array(text(1, MAX_SECRET_LENGTH)).min(1).max(MAX_SECRETS);

const ranges = z
  .array(Ipv4Range)
  .max(MAX_RANGES)
  .overwrite((given) => [...new Set(given)])
  .describe("Where calls may come from.");
const allowAllAgents = z.boolean().describe("Whether every agent may be called, as `agent_{agent_id}`.");
const allowedAgents = z
  .array(AllowedAgent)
  .max(MAX_ALLOWED_AGENTS)
  .describe("Agents that may be called; of several patterns that match the first counts.");

/** The SIP configuration of an account as it is answered. */
export const SipConfig = z.strictObject({
  allowedCidrRanges: ranges,
  allowAllAgents,
  allowedAgents,
  fallbackHandler: z
    .strictObject({ url: url(["http", "https"]), secrets: sealed(Secrets) })
    .nullable()
    .describe("Asked about calls that name no agent."),
  domain: z.string().describe("The host part of the addresses at which the account is called."),
});
export type SipConfig = z.output<typeof SipConfig>;

/** The body that changes the SIP configuration: what is absent stays, null brings the default back. */
export const SipConfigPatch = ignoring(
  z.strictObject({
    allowedCidrRanges: ranges.nullable().optional(),
    allowAllAgents: allowAllAgents.nullable().optional(),
    allowedAgents: allowedAgents.nullable().optional(),
    fallbackHandler: z
      .strictObject({
        url: url(["http", "https"]),
        secrets: sealed(Secrets)
          .optional()
          .describe("Sign the requests. Absent: the stored ones stay; at first one is made."),
      })
      .nullable()
      .optional(),
  }),
  ["domain"],
).meta({
  examples: [
    {
      allowedCidrRanges: ["203.0.113.0/24"],
      fallbackHandler: { url: "https://shop.example/sip", secrets: ["a secret of yours"] },
    },
  ],
});
export type SipConfigPatch = z.output<typeof SipConfigPatch>;

/** What stands in a SIP address as it is. */
function addressPart(max: number) {
  return text(1, max).refine((value) => !/[\s\p{Cc}<>"]/u.test(value), {
    error: "must not hold spaces, control characters, quotation marks or angle brackets",
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

/** A registration as it is answered. */
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
    .describe("Whether the registrar took it at last; null before its first answer."),
});
export type SipRegistration = z.output<typeof SipRegistration>;

const SHOWN_ONLY = ["registrationId", "created", "successful"];

/** The body that makes a registration. */
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
