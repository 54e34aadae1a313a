/** Things worth telling about a call, from a join to a failing voice. */

import { z } from "zod";
import { Duration } from "./duration.ts";
import { FreeObject, text, Uuid } from "./fields.ts";

/** Ascending. */
export const SEVERITIES = ["debug", "info", "warning", "error"] as const;

export const Severity = z.enum(SEVERITIES);
export type Severity = z.output<typeof Severity>;

export const CallEvent = z.strictObject({
  callId: Uuid,
  callStageId: Uuid,
  /** Media played or received since the join. */
  callTimestamp: Duration,
  /** Real time since the join; null before it. */
  wallClockTimestamp: Duration.nullable(),
  severity: Severity,
  /** Dotted, such as `call.joined`. */
  type: text(1, 50),
  text: z.string(),
  extras: FreeObject.nullable(),
});
export type CallEvent = z.output<typeof CallEvent>;
