/** The credentials of each carrier, in the form. */

import type { FieldFault } from "../../ui/field-errors.tsx";
import { mapOf, type Pair, pairsOf } from "../../ui/rows-editor.tsx";

export const CARRIERS = ["telephony1", "telephony2", "telephony3"] as const;
export type Carrier = (typeof CARRIERS)[number];

export interface CarrierField {
  readonly name: string;
  readonly label: string;
  /** Never shown again, except for its first characters. */
  readonly secret: boolean;
}

const ACCOUNT = { name: "accountSid", label: "Account SID", secret: false };
const TOKEN = { name: "authToken", label: "Auth token", secret: true };

export const CARRIER_FIELDS: Readonly<Record<Carrier, readonly CarrierField[]>> = {
  telephony1: [ACCOUNT, TOKEN],
  telephony2: [
    ACCOUNT,
    { name: "applicationSid", label: "Application SID", secret: false },
    { name: "apiKey", label: "API key", secret: true },
    { name: "publicKey", label: "Public key", secret: true },
  ],
  telephony3: [{ name: "authId", label: "Auth ID", secret: false }, TOKEN],
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
