/** What stays of a call after its deletion. */

import { z } from "zod";
import { EndReason } from "./call.ts";
import { MaxDuration } from "./call-settings.ts";
import { Timestamp, Uuid } from "./fields.ts";
import { pageQuery } from "./page.ts";
import { callFilters } from "./queries.ts";

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

/** Of what is gone nothing is found: `metadata`, `search` and `voiceId` match no deleted call. */
export const ListDeletedCallsQuery = z.strictObject({ ...pageQuery, ...callFilters });
export type ListDeletedCallsQuery = z.output<typeof ListDeletedCallsQuery>;
