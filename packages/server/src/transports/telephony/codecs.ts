/** The codecs of all carriers. */

import type { CarrierKind } from "@parley/schema";
import type { CarrierCodec } from "./codec.ts";
import { telephony1 } from "./telephony1.ts";
import { openTelephony2, type LinearOrder } from "./telephony2.ts";
import { telephony3 } from "./telephony3.ts";
import { telephony4 } from "./telephony4.ts";

export type CarrierCodecs = Readonly<Record<CarrierKind, CarrierCodec>>;

/** @param linearOrder the byte order of linear samples of telephony2 */
export function carrierCodecs(linearOrder: LinearOrder = "s16be"): CarrierCodecs {
  return { telephony1, telephony2: openTelephony2(linearOrder), telephony3, telephony4 };
}
