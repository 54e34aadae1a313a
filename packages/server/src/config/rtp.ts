/** Where media of calls over SIP arrive: settings of the environment. */

import { z } from "zod";
import { readBy } from "./env-fields.ts";
import { readPortRange } from "./webrtc.ts";

export interface RtpSettings {
  /** First and last UDP port; null: any that are free. Each call uses an even one and the next. */
  readonly portRange: readonly [number, number] | null;
}

export const RTP_FIELDS = { RTP_PORT_RANGE: readBy(readPairs).optional() };

const Fields = z.object(RTP_FIELDS);

export function rtpOf({ RTP_PORT_RANGE: range }: z.infer<typeof Fields>): RtpSettings {
  return { portRange: range ?? null };
}

function readPairs(text: string): readonly [number, number] {
  const [first, last] = readPortRange(text);
  if (first % 2 === 1 && last === first + 1) throw new Error("must have an even port and the next one");
  return [first, last];
}
