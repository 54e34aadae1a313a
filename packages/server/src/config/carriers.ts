/** Addresses of the carriers' REST interfaces, for proxies and tests: settings of the environment. */

import type { ConfiguredCarrier } from "@parley/schema";
import { z } from "zod";
import { httpUrl } from "./env-fields.ts";

/** Null: the carrier's own address. */
export type CarrierAddresses = Readonly<Record<ConfiguredCarrier, string | null>>;

export const CARRIER_FIELDS = {
  TWILIO_BASE_URL: httpUrl.optional(),
  TELNYX_BASE_URL: httpUrl.optional(),
  PLIVO_BASE_URL: httpUrl.optional(),
};

const Fields = z.object(CARRIER_FIELDS);

export function carrierAddressesOf(values: z.infer<typeof Fields>): CarrierAddresses {
  return {
    telephony1: values.TWILIO_BASE_URL ?? null,
    telephony2: values.TELNYX_BASE_URL ?? null,
    telephony3: values.PLIVO_BASE_URL ?? null,
  };
}
