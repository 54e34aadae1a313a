/** The carriers that an account can set up, and their configurations. */

import type { OutputOf } from "@parley/client/rest";
import type { UseQueryResult } from "@tanstack/react-query";
import { useRead } from "../data/api.tsx";
import { CARRIER_NAMES } from "./vendor-names.ts";

export const CARRIERS = ["telephony1", "telephony2", "telephony3"] as const;
export type Carrier = (typeof CARRIERS)[number];

export const URLS_PATH = "/api/accounts/me/telephony_urls";
export const CONFIGS_PATH = "/api/accounts/me/telephony_config";
export type CarrierConfigs = OutputOf<"GET", typeof CONFIGS_PATH>;

export function isCarrier(text: string): text is Carrier {
  return CARRIERS.some((carrier) => carrier === text);
}

export function carrierName(carrier: Carrier): string {
  return CARRIER_NAMES[carrier];
}

export function useCarrierConfigs(): UseQueryResult<CarrierConfigs, unknown> {
  return useRead(CONFIGS_PATH, {});
}

/** The carriers with a configuration, in the order of `CARRIERS`. */
export function configuredIn(configs: CarrierConfigs): readonly Carrier[] {
  return CARRIERS.filter((carrier) => configs[carrier] !== undefined);
}

/** The carriers that may connect incoming calls to the agent. */
export function carriersAllowing(configs: CarrierConfigs, agentId: string): readonly Carrier[] {
  return CARRIERS.filter((carrier) => {
    const config = configs[carrier];
    if (config === undefined) return false;
    return config.callCreationAllowAllAgents || config.callCreationAllowedAgentIds.includes(agentId);
  });
}
