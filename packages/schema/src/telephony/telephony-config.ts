/** The configuration of an account's telephony carriers. */

import { z } from "zod";
import { asObject, asText, withRule } from "../values/check.ts";
import { codePoints, ignoring, keepable, name, TextMap, Uuid, writeOnly } from "../values/fields.ts";
import { toNeutralName } from "../names/names.ts";

/** Carriers with a configuration: the service places calls through them or accepts calls from them. */
export const CONFIGURED_CARRIERS = ["telephony1", "telephony2", "telephony3"] as const;
export type ConfiguredCarrier = (typeof CONFIGURED_CARRIERS)[number];

/** A carrier in a path, in any spelling; parses to the neutral name. */
export const CarrierName = z
  .string()
  .transform(toNeutralName)
  .pipe(z.enum(CONFIGURED_CARRIERS))
  .meta({ description: "telephony1, telephony2 or telephony3." });

/** The fields that identify an account at each carrier: shown ones, and secrets of which only the start is shown. */
export const CARRIER_FIELDS: Readonly<
  Record<ConfiguredCarrier, { readonly shown: readonly string[]; readonly secret: readonly string[] }>
> = {
  telephony1: { shown: ["accountSid"], secret: ["authToken"] },
  telephony2: { shown: ["accountSid", "applicationSid"], secret: ["apiKey", "publicKey"] },
  telephony3: { shown: ["authId"], secret: ["authToken"] },
};

/** Longer than the credentials of any carrier; limits storage. */
const Identifier = name(100);
const Credential = writeOnly(name(500));
const ApplicationSid = name(40);

const SecretPrefix = z
  .strictObject({ prefix: z.string() })
  .describe("The first four characters of the secret; none of a secret shorter than eight.");

const MAX_ALLOWED_AGENTS = 100;
/** A carrier's request has about 40 fields. */
const MAX_MAPPINGS = 100;
const MAX_PATH_LENGTH = 200;

function pathProblem(path: string): string | null {
  if (codePoints(path) > MAX_PATH_LENGTH) return `must have at most ${MAX_PATH_LENGTH} characters`;
  const steps = path.split(".");
  if (steps.some((step) => step.trim() === "")) return "must be names separated by dots";
  return steps.includes("__proto__") ? "must not contain __proto__" : null;
}

/** Whether writing to one path would change what is at the other. */
function meet(one: string, other: string): boolean {
  return `${one}.`.startsWith(`${other}.`) || `${other}.`.startsWith(`${one}.`);
}

/** Maps a dotted field of the carrier's request to a dotted field of the template context. */
const RequestContextMapping = withRule(TextMap, (value, report) => {
  const targets: [field: string, target: string][] = [];
  const entries = Object.entries(asObject(value) ?? {});
  if (entries.length > MAX_MAPPINGS) report([], `must have at most ${MAX_MAPPINGS} entries`);
  for (const [field, given] of entries.slice(0, MAX_MAPPINGS)) {
    const keyProblem = pathProblem(field);
    if (keyProblem !== null) report([field], `has an invalid name: it ${keyProblem}`);
    const target = asText(given);
    if (target === null) continue;
    const problem = pathProblem(target);
    if (problem !== null) report([field], problem);
    const rival = targets.find(([, other]) => meet(target, other));
    if (rival !== undefined)
      report([field], `writes to ${target}, which conflicts with ${rival[0]} writing to ${rival[1]}`);
    targets.push([field, target]);
  }
}).meta({
  description:
    "Maps fields of the carrier's request to fields of the template context, such as `From` to `user.phone`. Dots separate nested fields.",
});

export const ALL_OR_SOME = "must not be true beside callCreationAllowedAgentIds";

function withPermissions<S extends z.ZodType>(schema: S): S {
  return withRule(schema, (value, report) => {
    const given = asObject(value);
    const ids = given?.["callCreationAllowedAgentIds"];
    if (given?.["callCreationAllowAllAgents"] === true && Array.isArray(ids) && ids.length > 0) {
      report(["callCreationAllowAllAgents"], ALL_OR_SOME);
    }
  });
}

const AgentIds = z
  .array(Uuid)
  .max(MAX_ALLOWED_AGENTS)
  .overwrite((ids) => [...new Set(ids)])
  .describe("Agents that the carrier may start calls of.");

const permissions = {
  callCreationAllowedAgentIds: AgentIds.optional(),
  callCreationAllowAllAgents: z.boolean().meta({ default: false }).optional(),
  requestContextMapping: RequestContextMapping.optional(),
};

const shownPermissions = {
  callCreationAllowedAgentIds: AgentIds,
  callCreationAllowAllAgents: z.boolean(),
  requestContextMapping: RequestContextMapping,
};

const own = {
  telephony1: { accountSid: Identifier, authToken: Credential },
  telephony2: {
    accountSid: Identifier,
    apiKey: Credential,
    publicKey: Credential,
    applicationSid: ApplicationSid,
  },
  telephony3: { authId: Identifier, authToken: Credential },
};

/** Configurations as the API returns them. */
export const Telephony1Config = z.strictObject({
  accountSid: Identifier,
  authTokenPrefix: SecretPrefix,
  ...shownPermissions,
});
export const Telephony2Config = z.strictObject({
  accountSid: Identifier,
  applicationSid: ApplicationSid,
  apiKeyPrefix: SecretPrefix,
  publicKeyPrefix: SecretPrefix,
  ...shownPermissions,
});
export const Telephony3Config = z.strictObject({
  authId: Identifier,
  authTokenPrefix: SecretPrefix,
  ...shownPermissions,
});
export const TelephonyConfig = z.union([Telephony1Config, Telephony2Config, Telephony3Config]);

/** All configured carriers; others are absent. */
export const AccountTelephonyConfig = z.strictObject({
  telephony1: Telephony1Config.optional(),
  telephony2: Telephony2Config.optional(),
  telephony3: Telephony3Config.optional(),
});

function shownOnly(carrier: ConfiguredCarrier): string[] {
  return CARRIER_FIELDS[carrier].secret.map((field) => `${field}Prefix`);
}

/** The bodies that configure a carrier. */
export const Telephony1ConfigWrite = ignoring(
  withPermissions(z.strictObject({ ...own.telephony1, ...permissions })),
  shownOnly("telephony1"),
).meta({
  examples: [
    {
      accountSid: "AC0123456789abcdef",
      authToken: "0123456789abcdef",
      callCreationAllowAllAgents: true,
      requestContextMapping: { From: "user.phone" },
    },
  ],
});
export const Telephony2ConfigWrite = ignoring(
  withPermissions(z.strictObject({ ...own.telephony2, ...permissions })),
  shownOnly("telephony2"),
);
export const Telephony3ConfigWrite = ignoring(
  withPermissions(z.strictObject({ ...own.telephony3, ...permissions })),
  shownOnly("telephony3"),
);
export const TelephonyConfigWrite = z.union([
  Telephony1ConfigWrite,
  Telephony2ConfigWrite,
  Telephony3ConfigWrite,
]);

function patchOf(carrier: ConfiguredCarrier) {
  const kept = Object.entries(own[carrier]).map(([field, schema]) => [field, keepable(schema)] as const);
  const cleared = Object.entries(permissions).map(
    ([field, schema]) => [field, schema.unwrap().nullable().optional()] as const,
  );
  const fields: Record<string, z.ZodType> = Object.fromEntries([...kept, ...cleared]);
  return ignoring(withPermissions(z.strictObject(fields)), shownOnly(carrier));
}

/** The bodies that change the configuration of a carrier. Absent fields stay unchanged. */
export const Telephony1ConfigPatch = patchOf("telephony1");
export const Telephony2ConfigPatch = patchOf("telephony2");
export const Telephony3ConfigPatch = patchOf("telephony3");
export const TelephonyConfigPatch = z.union([
  Telephony1ConfigPatch,
  Telephony2ConfigPatch,
  Telephony3ConfigPatch,
]);

/** The body that changes several carriers at once. Null removes a carrier; absent carriers stay unchanged. */
export const AccountTelephonyConfigPatch = z.strictObject({
  telephony1: Telephony1ConfigPatch.nullable().optional(),
  telephony2: Telephony2ConfigPatch.nullable().optional(),
  telephony3: Telephony3ConfigPatch.nullable().optional(),
});
