/** Checks the configuration of a carrier: what the service knows itself, and what the carrier says. */

import type { ConfiguredCarrier } from "@parley/schema";
import type { CarrierFinding, Carriers } from "../ports/carriers.ts";
import type { Db } from "../store/database/db.ts";
import { readTelephonyConfigs, type TelephonyConfig } from "../store/telephony/telephony-configs.ts";

export interface CheckDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
}

/** Null: the carrier is not configured. */
export async function checkConfig(
  { db, carriers, publicUrl, closing }: CheckDeps,
  accountId: string,
  carrier: ConfiguredCarrier,
): Promise<readonly CarrierFinding[] | null> {
  const config = (await readTelephonyConfigs(db, accountId))[carrier];
  if (config === undefined) return null;
  const found = await carriers[carrier].check(config, { publicUrl: publicUrl() }, closing);
  return [...ownFindings(config, publicUrl()), ...found];
}

function ownFindings(config: TelephonyConfig, publicUrl: string): CarrierFinding[] {
  const findings: CarrierFinding[] = [];
  if (!publicUrl.startsWith("https://")) {
    const message = `Carriers connect only to https and wss, and the public address of this service is ${publicUrl}. Set PUBLIC_URL to an https address that reaches this service.`;
    findings.push({ severity: "error", field: null, message });
  }
  if (!config.allowAllAgents && config.allowedAgentIds.length === 0) {
    const message =
      "No agent may answer calls of this carrier. Name agents here, or set callCreationAllowAllAgents. Calls that the service dials are not affected.";
    findings.push({ severity: "warning", field: "callCreationAllowedAgentIds", message });
  }
  return findings;
}
