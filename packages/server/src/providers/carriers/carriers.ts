/** The carriers with a configuration, over one client. */

import type { Carriers } from "../../ports/carriers.ts";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import { openPlivo, PLIVO_URL } from "./plivo.ts";
import { openTelnyx, TELNYX_URL } from "./telnyx.ts";
import { openTwilio, TWILIO_URL } from "./twilio.ts";

/** Null: the carrier's own address. */
export interface CarrierAddresses {
  readonly telephony1: string | null;
  readonly telephony2: string | null;
  readonly telephony3: string | null;
}

/** The addresses are the carriers' or the operator's, and never a user's. */
export function openCarriers(client: Pick<GuardedClient, "request">, addresses: CarrierAddresses): Carriers {
  return {
    telephony1: openTwilio({ client, baseUrl: addresses.telephony1 ?? TWILIO_URL }),
    telephony2: openTelnyx({ client, baseUrl: addresses.telephony2 ?? TELNYX_URL }),
    telephony3: openPlivo({ client, baseUrl: addresses.telephony3 ?? PLIVO_URL }),
  };
}
