/** Converts stored telephony carriers and SIP settings to resources of the interface. */

import {
  type CallDial,
  CARRIER_FIELDS,
  type ConfiguredCarrier,
  formatDurationMs,
  maskSecret,
} from "@parley/schema";
import type { DialState } from "../../store/telephony/dial-progress.ts";
import type { SipConfigRow } from "../../store/telephony/sip-configs.ts";
import type { SipMessageRow } from "../../store/telephony/sip-messages.ts";
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
export function sipConfigResource(
  row: SipConfigRow,
  account: { readonly accountId: string; readonly sipHost: string; readonly enabled: boolean },
): Resource {
  return { ...row, domain: `${account.accountId}.${account.sipHost}`, enabled: account.enabled };
}

export function sipRegistrationResource({
  createdAt,
  lastAttemptAt,
  nextAttemptAt,
  ...row
}: SipRegistrationRow): Resource {
  return { ...row, created: createdAt, lastAttempt: lastAttemptAt, nextAttempt: nextAttemptAt };
}

export function sipMessageResource({ at, isSent, text, ...places }: SipMessageRow): Resource {
  const { transport, source, destination } = places;
  const [firstLine = ""] = text.split("\r\n", 1);
  const direction = isSent ? "sent" : "received";
  return { timestamp: at, direction, transport, source, destination, firstLine, text };
}

export function dialResource(callId: string, dial: DialState): Resource {
  const { carrierCallId, result, detail, talkedMs, dialledAt, ringingAt, answeredAt, endedAt } = dial;
  return {
    callId,
    state: stateOf(dial),
    carrierCallId,
    dialled: dialledAt,
    ringing: ringingAt,
    answered: answeredAt,
    ended: endedAt,
    result,
    detail,
    talked: talkedMs === null ? null : formatDurationMs(talkedMs),
  };
}

function stateOf({ result, answeredAt, ringingAt }: DialState): CallDial["state"] {
  if (result !== null) return "ended";
  if (answeredAt !== null) return "answered";
  return ringingAt === null ? "requested" : "ringing";
}
