/** Notable events of a call, such as a join or a failed voice. */

import { z } from "zod";
import { Duration } from "../values/duration.ts";
import { FreeObject, text, Uuid } from "../values/fields.ts";

/** In ascending order. */
export const SEVERITIES = ["debug", "info", "warning", "error"] as const;

export const Severity = z.enum(SEVERITIES);
export type Severity = z.output<typeof Severity>;

export const CallEvent = z.strictObject({
  callId: Uuid,
  callStageId: Uuid,
  callTimestamp: Duration.describe("Media played or received since the join."),
  wallClockTimestamp: Duration.nullable().describe("Real time since the join; null before it."),
  severity: Severity,
  type: text(1, 50).describe("Dotted, such as `call.joined`."),
  text: z.string(),
  extras: FreeObject.nullable(),
});
export type CallEvent = z.output<typeof CallEvent>;
