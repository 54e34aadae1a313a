/** The credentials of each carrier, in the form. */

import type { FieldFault } from "../../ui/field-errors.tsx";
import { mapOf, type Pair, pairsOf } from "../../ui/rows-editor.tsx";
import type { Carrier } from "../carriers.ts";

export interface CarrierField {
  readonly name: string;
  readonly label: string;
  /** Where it is at the carrier. */
  readonly hint: string;
  /** Never shown again, except for its first characters. */
  readonly secret: boolean;
}

export const CARRIER_FIELDS: Readonly<Record<Carrier, readonly CarrierField[]>> = {
  telephony1: [
    {
      name: "accountSid",
      label: "Account SID",
      hint: "On the start page of the Twilio Console.",
      secret: false,
    },
    {
      name: "authToken",
      label: "Auth token",
      hint: "Beside the Account SID. API keys do not work here, because they do not sign webhooks.",
      secret: true,
    },
  ],
  telephony2: [
    { name: "accountSid", label: "Account SID", hint: "Account, Organization.", secret: false },
    {
      name: "applicationSid",
      label: "Application SID",
      hint: "Voice, Programmable Voice, TeXML Applications: the ID of your application.",
      secret: false,
    },
    { name: "apiKey", label: "API key", hint: "Keys & Credentials, API Keys.", secret: true },
    { name: "publicKey", label: "Public key", hint: "Keys & Credentials, Public Key.", secret: true },
  ],
  telephony3: [
    { name: "authId", label: "Auth ID", hint: "On the Overview page of the Plivo Console.", secret: false },
    { name: "authToken", label: "Auth token", hint: "Beside the Auth ID.", secret: true },
  ],
};

export interface CarrierDraft {
  /** By the names of the carrier's fields; secrets are empty until they are entered. */
  readonly fields: Readonly<Record<string, string>>;
  readonly allowAll: boolean;
  readonly agentIds: readonly string[];
  readonly mapping: readonly Pair[];
}

/** The configuration of any carrier, as the API returns it. */
export interface ShownConfig {
  readonly callCreationAllowedAgentIds: readonly string[];
  readonly callCreationAllowAllAgents: boolean;
  readonly requestContextMapping: Readonly<Record<string, string>>;
}

/** The visible value of a field, or the first characters of a secret. */
export function shownOf(config: ShownConfig, { name, secret }: CarrierField): string {
  const value: unknown = Reflect.get(config, secret ? `${name}Prefix` : name);
  if (typeof value === "string") return value;
  return typeof value === "object" && value !== null && "prefix" in value ? `${String(value.prefix)}…` : "";
}

export function draftOf(carrier: Carrier, config: ShownConfig | undefined): CarrierDraft {
  const fields = CARRIER_FIELDS[carrier].map((field) => [
    field.name,
    field.secret || config === undefined ? "" : shownOf(config, field),
  ]);
  return {
    fields: Object.fromEntries(fields),
    allowAll: config?.callCreationAllowAllAgents ?? false,
    agentIds: config?.callCreationAllowedAgentIds ?? [],
    mapping: pairsOf(config?.requestContextMapping),
  };
}

/** Empty secrets stay unchanged; a new configuration needs all secrets. */
export function carrierFaults(carrier: Carrier, draft: CarrierDraft, isNew: boolean): FieldFault[] {
  return CARRIER_FIELDS[carrier]
    .filter(({ name, secret }) => (draft.fields[name] ?? "").trim() === "" && (isNew || !secret))
    .map(({ name }) => ({ field: name, message: "is required" }));
}

export function bodyOf(carrier: Carrier, draft: CarrierDraft): Record<string, unknown> {
  const fields = CARRIER_FIELDS[carrier]
    .map(({ name }) => [name, (draft.fields[name] ?? "").trim()] as const)
    .filter(([, value]) => value !== "");
  return {
    ...Object.fromEntries(fields),
    callCreationAllowAllAgents: draft.allowAll,
    callCreationAllowedAgentIds: draft.allowAll ? [] : draft.agentIds.filter((id) => id !== ""),
    requestContextMapping: mapOf(draft.mapping) ?? {},
  };
}

const PERMISSION_LABELS: Readonly<Record<string, string>> = {
  callCreationAllowedAgentIds: "Agents that may be called",
  callCreationAllowAllAgents: "Agents that may be called",
  requestContextMapping: "Variables from the carrier’s request",
};

/** The label of a field that a finding names. */
export function labelOfField(carrier: Carrier, field: string): string {
  const own = CARRIER_FIELDS[carrier].find(({ name }) => name === field);
  return own?.label ?? PERMISSION_LABELS[field] ?? field;
}

/** After they were stored. */
export function withoutSecrets(carrier: Carrier, draft: CarrierDraft): CarrierDraft {
  const cleared = CARRIER_FIELDS[carrier].filter(({ secret }) => secret).map(({ name }) => [name, ""]);
  return { ...draft, fields: { ...draft.fields, ...Object.fromEntries(cleared) } };
}

/** Which agents the carrier may call. */
export function allowedText({
  callCreationAllowAllAgents: all,
  callCreationAllowedAgentIds: some,
}: ShownConfig): string {
  if (all) return "All agents";
  if (some.length === 0) return "No agent";
  return some.length === 1 ? "1 agent" : `${String(some.length)} agents`;
}
