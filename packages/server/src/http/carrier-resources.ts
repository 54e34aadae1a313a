/** What is stored of telephony carriers and SIP, as resources of the interface. */

import { CARRIER_FIELDS, type ConfiguredCarrier, maskSecret } from "@parley/schema";
import type { SipConfigRow } from "../store/sip-configs.ts";
import type { SipRegistrationRow } from "../store/sip-registrations.ts";
import type { TelephonyConfig } from "../store/telephony-configs.ts";
import type { Resource } from "./resources.ts";

export function telephonyResource(carrier: ConfiguredCarrier, config: TelephonyConfig): Resource {
  const prefixes = CARRIER_FIELDS[carrier].secret.map((name) => [
    `${name}Prefix`,
    { prefix: maskSecret(config.secrets[name] ?? "").slice(0, -1) },
  ]);
  return {
    ...config.settings,
    ...Object.fromEntries(prefixes),
    callCreationAllowedAgentIds: config.allowedAgentIds,
    callCreationAllowAllAgents: config.allowAllAgents,
    requestContextMapping: config.requestContextMapping,
  };
}

/** The account's id is its label: a DNS label that names one account and tells nothing. */
export function sipConfigResource(row: SipConfigRow, accountId: string, sipHost: string): Resource {
  return { ...row, domain: `${accountId}.${sipHost}` };
}

export function sipRegistrationResource({ createdAt, ...row }: SipRegistrationRow): Resource {
  return { ...row, created: createdAt };
}
