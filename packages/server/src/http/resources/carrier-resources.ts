/** Converts stored telephony carriers and SIP settings to resources of the interface. */

import { CARRIER_FIELDS, type ConfiguredCarrier, maskSecret } from "@parley/schema";
import type { SipConfigRow } from "../../store/telephony/sip-configs.ts";
import type { SipRegistrationRow } from "../../store/telephony/sip-registrations.ts";
import type { TelephonyConfig } from "../../store/telephony/telephony-configs.ts";
import type { Resource } from "../../lifecycle/resource.ts";

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

/** The account's id is its DNS label, which is unique and reveals nothing. */
export function sipConfigResource(row: SipConfigRow, accountId: string, sipHost: string): Resource {
  return { ...row, domain: `${accountId}.${sipHost}` };
}

export function sipRegistrationResource({ createdAt, ...row }: SipRegistrationRow): Resource {
  return { ...row, created: createdAt };
}
