/** What is stored of calls that have ended, and for how many days: settings of the environment. */

import { z } from "zod";
import type { AgeLimits } from "../store/calls/age-limits.ts";
import { flag, whole } from "./env-fields.ts";

/** At most a hundred years; unset stores without a limit. */
const days = whole(1, 36_500).optional();

export const RETENTION_FIELDS = {
  // A few hundred KB for each hour of talk; without it only failed calls leave a log.
  STORE_EVENT_LOGS: flag.default(true),
  CALLS_RETENTION_DAYS: days,
  TRANSCRIPTS_RETENTION_DAYS: days,
  RECORDINGS_RETENTION_DAYS: days,
  // A year covers a yearly review. An entry takes about 300 bytes.
  AUDIT_RETENTION_DAYS: whole(1, 36_500).default(365),
};

const Fields = z.object(RETENTION_FIELDS);

export interface Retention {
  /** Whether every event of a call is stored with the call, for replay. */
  readonly storeEventLogs: boolean;
  /** Days after the end of a call until it, its transcript or its recording is erased. */
  readonly ageLimits: AgeLimits;
  /** Days until an entry of the audit log is deleted. */
  readonly auditRetentionDays: number;
}

export function retentionOf(values: z.infer<typeof Fields>): Retention {
  return {
    storeEventLogs: values.STORE_EVENT_LOGS,
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    ageLimits: {
      recordingsRetentionDays: values.RECORDINGS_RETENTION_DAYS ?? null,
      transcriptsRetentionDays: values.TRANSCRIPTS_RETENTION_DAYS ?? null,
      callsRetentionDays: values.CALLS_RETENTION_DAYS ?? null,
    },
  };
}
