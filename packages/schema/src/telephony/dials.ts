/** How far a call is that the service dials, what was dialled within the day, and the URLs for carriers. */

import { z } from "zod";
import { Duration } from "../values/duration.ts";
import { Timestamp, Uuid } from "../values/fields.ts";

/** A dialled call as its carrier reports it. */
export const CallDial = z.strictObject({
  callId: Uuid,
  state: z
    .enum(["requested", "ringing", "answered", "ended"])
    .describe("`requested`: the carrier was asked. Not every carrier reports that the phone rings."),
  carrierCallId: z
    .string()
    .nullable()
    .describe("The carrier's id of the call. Null until the carrier has answered."),
  dialled: Timestamp.describe("When the service asked the carrier."),
  ringing: Timestamp.nullable(),
  answered: Timestamp.nullable(),
  ended: Timestamp.nullable(),
  result: z
    .enum(["completed", "busy", "no_answer", "failed", "canceled", "machine", "refused"])
    .nullable()
    .describe("How the call ended at the carrier. `refused`: nobody was dialled. Null until it has ended."),
  detail: z.string().nullable().describe("The carrier's words about a failure."),
  talked: Duration.nullable().describe("How long the carrier connected the call. Null if it did not say."),
});
export type CallDial = z.output<typeof CallDial>;

/** What the limits of the dialling rules count. */
export const DiallingUse = z.strictObject({
  calls: z.int().min(0).describe("Calls that the service dialled within the last 24 hours."),
  talked: Duration.describe("Their length, with that of running calls until now."),
});
export type DiallingUse = z.output<typeof DiallingUse>;

/** What to enter at a carrier. */
export const TelephonyUrls = z.strictObject({
  publicUrl: z.string().describe("The address of this service. Carriers connect only to `https`."),
  accountUrl: z.string().describe("Calls are answered by the agent of the called number."),
  agentUrl: z.string().describe("Calls are answered by one agent. Replace `{agent_id}` with its id."),
});
export type TelephonyUrls = z.output<typeof TelephonyUrls>;
