/** Media streams of telephone carriers: settings of the environment. */

import { z } from "zod";

export const CARRIER_STREAM_FIELDS = {
  // The carrier does not document it. RFC 3551 has the network's order, which is `big`.
  TELNYX_L16_BYTE_ORDER: z.enum(["big", "little"], { message: "must be big or little" }).default("big"),
};

const Fields = z.object(CARRIER_STREAM_FIELDS);

/** The byte order of linear 16-bit samples in streams of telephony2. */
export function telnyxLinearOrderOf(values: z.infer<typeof Fields>): "s16be" | "s16le" {
  return values.TELNYX_L16_BYTE_ORDER === "little" ? "s16le" : "s16be";
}
