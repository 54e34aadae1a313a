/** What is made of calls that are over, how they are counted, and how long they are kept: settings of the environment. */

import { z } from "zod";
import { flag, whole } from "./env-fields.ts";
import { BUCKET_FIELDS, bucketOf, checkBucketFields } from "./recordings-bucket.ts";
import type { S3Settings } from "./providers/recordings/s3-recordings.ts";
import type { AgeLimits } from "./store/age-limits.ts";
import type { Metering } from "./store/metering.ts";

/** A hundred years at most: whoever wants more leaves it out. */
const keptDays = whole(1, 36_500).optional();

export const KEEPING_FIELDS = {
  // A few hundred KB for each hour of talk; without it only failed calls leave a log.
  KEEP_EVENT_LOGS: flag.default(true),
  SUMMARIES: flag.default(true),
  // Carriers bill by 6 s; a minute is the other common unit. An hour is beyond any tariff.
  BILLING_UNIT_MS: whole(1, 3_600_000).default(6_000),
  METERING: flag.default(true),
  RECORDINGS_KEPT_DAYS: keptDays,
  TRANSCRIPTS_KEPT_DAYS: keptDays,
  CALLS_KEPT_DAYS: keptDays,
  ...BUCKET_FIELDS,
};

export const checkKeepingFields = checkBucketFields;

const Fields = z.object(KEEPING_FIELDS);

export interface Keeping {
  /** Whether all that a call's engine went through is kept with the call, for replay. */
  readonly keepEventLogs: boolean;
  /** Whether the language model writes summaries of calls. */
  readonly summaries: boolean;
  /** How the joined time of calls is counted. */
  readonly metering: Metering;
  /** How long after its end what there is of a call is kept. */
  readonly ageLimits: AgeLimits;
  /** Null: recordings stay in DATA_DIR. */
  readonly recordingsBucket: S3Settings | null;
}

export function keepingOf(values: z.infer<typeof Fields>): Keeping {
  return {
    keepEventLogs: values.KEEP_EVENT_LOGS,
    summaries: values.SUMMARIES,
    metering: { unitMs: values.BILLING_UNIT_MS, enabled: values.METERING },
    ageLimits: {
      recordingsKeptDays: values.RECORDINGS_KEPT_DAYS ?? null,
      transcriptsKeptDays: values.TRANSCRIPTS_KEPT_DAYS ?? null,
      callsKeptDays: values.CALLS_KEPT_DAYS ?? null,
    },
    recordingsBucket: bucketOf(values),
  };
}
