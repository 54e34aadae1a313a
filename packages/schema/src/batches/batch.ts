/** Batches of calls that the service creates on schedule. */

import { z } from "zod";
import { CallMedium } from "../media/call-medium.ts";
import { ExperimentalSettings, Metadata } from "../calls/call-settings.ts";
import { FreeObject, ignoring, sealed, TextMap, Timestamp, Uuid } from "../values/fields.ts";
import { batchExtensions, clearableExtensions, shownExtensions } from "./batch-extensions.ts";
import { DateTime } from "../values/moments.ts";
import { WebhookSecret, WebhookUrl } from "../webhooks/webhook.ts";

export const MAX_BATCH_CALLS = 100_000;
/** About 300 bytes per call. */
export const MAX_BATCH_BYTES = 32 * 1024 * 1024;

export const SCHEDULED_CALL_STATUSES = ["FUTURE", "PENDING", "SUCCESS", "EXPIRED", "ERROR"] as const;
export const ScheduledCallStatus = z.enum(SCHEDULED_CALL_STATUSES);
export type ScheduledCallStatus = z.output<typeof ScheduledCallStatus>;

/** A scheduled call as the API returns it. */
export const ScheduledCall = z.strictObject({
  status: ScheduledCallStatus,
  batchId: Uuid,
  callId: Uuid.nullable().describe("The created call."),
  error: z.string().nullable().describe("Why no call was created."),
  medium: CallMedium.nullable(),
  metadata: TextMap.nullable(),
  templateContext: FreeObject.nullable(),
  experimentalSettings: FreeObject.nullable(),
});
export type ScheduledCall = z.output<typeof ScheduledCall>;

/** One call of a new batch. Unset fields come from the agent when the call is created. */
export const ScheduledCallWrite = ignoring(
  z.strictObject({
    medium: CallMedium.optional(),
    metadata: Metadata.optional(),
    templateContext: FreeObject.optional().describe("Fills the template strings of the agent."),
    experimentalSettings: ExperimentalSettings.optional(),
  }),
  ["status", "batchId", "callId", "error"],
);
export type ScheduledCallWrite = z.output<typeof ScheduledCallWrite>;

const ThrottleName = z.string().min(1).max(1000).describe("Name or id of a call throttle.");
const Secret = sealed(WebhookSecret, "calls").describe(
  "Signs requests to `webhookUrl`. Unset: the service makes one.",
);

/** A batch as the API returns it. */
export const ScheduledCallBatch = z.strictObject({
  batchId: Uuid,
  created: Timestamp,
  windowStart: Timestamp.nullable(),
  windowEnd: Timestamp.nullable(),
  throttle: ThrottleName.nullable(),
  webhookUrl: WebhookUrl.nullable(),
  webhookSecret: Secret.nullable(),
  paused: z.boolean(),
  totalCount: z.int().min(0),
  completedCount: z.int().min(0).describe("Scheduled calls with the status SUCCESS, EXPIRED or ERROR."),
  failedCount: z.int().min(0).describe("Scheduled calls with the status ERROR."),
  endedAt: Timestamp.nullable().describe("When no call was left to create."),
  ...shownExtensions,
});
export type ScheduledCallBatch = z.output<typeof ScheduledCallBatch>;

const READ_ONLY = [
  "batchId",
  "created",
  "totalCount",
  "completedCount",
  "failedCount",
  "endedAt",
  "pauseReason",
];

const settings = {
  windowStart: DateTime.optional().describe("No call is created before. Unset: now."),
  windowEnd: DateTime.optional().describe("No call is created after. Unset: no end."),
  throttle: ThrottleName.optional(),
  webhookUrl: WebhookUrl.optional().describe(
    "Receives a request with the join URL for each created call that the service does not dial. Required if the " +
      "batch has such calls, refused otherwise.",
  ),
  webhookSecret: Secret.optional(),
  paused: z
    .boolean()
    .meta({ default: false })
    .optional()
    .describe("While true, no calls are created. The window still ends on time."),
  ...batchExtensions,
};

/** A new batch without its calls, which are read one by one. */
export const BatchSettings = ignoring(z.strictObject(settings), READ_ONLY);
export type BatchSettings = z.output<typeof BatchSettings>;

/** The body that creates a batch. */
export const BatchWrite = ignoring(
  z.strictObject({ calls: z.array(ScheduledCallWrite).min(1).max(MAX_BATCH_CALLS), ...settings }),
  READ_ONLY,
).meta({
  examples: [
    {
      name: "Reminders of January",
      calls: [{ medium: { telephony1: { outgoing: { to: "+4930123456", from: "+4930654321" } } } }],
      windowStart: "2030-01-01T09:00:00+01:00",
    },
  ],
});
export type BatchWrite = z.output<typeof BatchWrite>;

/** The body that changes a batch; null clears a field or restores its default. */
export const BatchPatch = ignoring(
  z.strictObject({
    windowStart: DateTime.nullable().optional(),
    windowEnd: DateTime.nullable().optional(),
    throttle: ThrottleName.nullable().optional(),
    webhookUrl: WebhookUrl.nullable().optional(),
    webhookSecret: Secret.nullable().optional(),
    paused: z.boolean().nullable().optional(),
    ...clearableExtensions,
  }),
  READ_ONLY,
).meta({ refusedKeys: { calls: "cannot be changed; delete the batch and create another one" } });
export type BatchPatch = z.output<typeof BatchPatch>;
