/** What remains of a call after its deletion. */

import { z } from "zod";
import { EndReason } from "./call.ts";
import { MaxDuration } from "./call-settings.ts";
import { Timestamp, Uuid } from "../values/fields.ts";
import { pageQuery } from "../values/page.ts";
import { callFilters } from "../routes/queries.ts";

export const DeletedCall = z.strictObject({
  callId: Uuid,
  accountId: Uuid,
  created: Timestamp,
  deletionTime: Timestamp,
  endReason: EndReason.nullable(),
  recordingEnabled: z.boolean(),
  hadSummary: z.boolean(),
  joined: Timestamp.nullable(),
  ended: Timestamp.nullable(),
  maxDuration: MaxDuration,
});
export type DeletedCall = z.output<typeof DeletedCall>;

/** `metadata`, `search` and `voiceId` match no deleted call, because their values are deleted. */
export const ListDeletedCallsQuery = z.strictObject({ ...pageQuery, ...callFilters });
export type ListDeletedCallsQuery = z.output<typeof ListDeletedCallsQuery>;
