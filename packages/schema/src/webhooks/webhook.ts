/** Addresses that receive events of calls. */

import { z } from "zod";
import { ignoring, sealed, text, Timestamp, Uuid } from "../values/fields.ts";
import { url } from "../values/http-parts.ts";

export const MAX_WEBHOOK_URL_LENGTH = 200;
export const MAX_WEBHOOK_SECRET_LENGTH = 120;
/** Enough for a rotation; each adds to the header size of every request. */
export const MAX_WEBHOOK_SECRETS = 10;

export const WEBHOOK_EVENTS = ["call.started", "call.joined", "call.ended", "call.billed"] as const;
export const WebhookEvent = z.enum(WEBHOOK_EVENTS);
export type WebhookEvent = z.output<typeof WebhookEvent>;

export const WebhookUrl = url(["http", "https"], MAX_WEBHOOK_URL_LENGTH);
export const WebhookSecret = text(1, MAX_WEBHOOK_SECRET_LENGTH);

const Events = z
  .array(WebhookEvent)
  .min(1)
  .overwrite((events) => [...new Set(events)])
  .describe("Events to send; repeated ones count once.");
const Secrets = sealed(z.array(WebhookSecret).max(MAX_WEBHOOK_SECRETS), "admin").describe(
  "Each signs the requests; use several to rotate. Without secrets, the service makes one.",
);
const Status = z.enum(["normal", "unhealthy"]);
export type WebhookStatus = z.output<typeof Status>;

/** A failed delivery attempt. `failure` is one line such as `HTTP 500`. */
const WebhookFailure = z.strictObject({ timestamp: Timestamp, failure: z.string() });

/** A webhook as the API returns it, with its secrets: receivers check signatures with them. */
export const Webhook = z.strictObject({
  webhookId: Uuid,
  created: Timestamp,
  url: WebhookUrl,
  events: Events,
  agentId: Uuid.nullable().describe("Only calls of this agent. Null: all calls of the account."),
  secrets: Secrets,
  status: Status.describe("`unhealthy` after several failed attempts in a row. Deliveries continue."),
  lastStatusChange: Timestamp.nullable(),
  recentFailures: z.array(WebhookFailure).describe("Newest first."),
});
export type Webhook = z.output<typeof Webhook>;

const READ_ONLY = ["webhookId", "created", "lastStatusChange", "recentFailures"];

const WritableStatus = Status.optional().describe(
  "`normal` resets the failed attempts; `unhealthy` has no effect.",
);

/** The body that creates or replaces a webhook. */
export const WebhookWrite = ignoring(
  z.strictObject({
    url: WebhookUrl,
    events: Events,
    agentId: Uuid.optional(),
    secrets: Secrets.optional(),
    status: WritableStatus,
  }),
  READ_ONLY,
).meta({ examples: [{ url: "https://hooks.example/calls", events: ["call.ended"] }] });
export type WebhookWrite = z.output<typeof WebhookWrite>;

/** The body that changes a webhook. Null removes the agent; null secrets are replaced by a new secret. */
export const WebhookPatch = ignoring(
  z.strictObject({
    url: WebhookUrl.optional(),
    events: Events.optional(),
    agentId: Uuid.nullable().optional(),
    secrets: Secrets.nullable().optional(),
    status: WritableStatus,
  }),
  READ_ONLY,
);
export type WebhookPatch = z.output<typeof WebhookPatch>;

/** The event to send a sample of. */
export const WebhookTest = z.strictObject({
  event: WebhookEvent.meta({ default: "call.ended" }).optional(),
});

export const DeliveryStatus = z.enum(["pending", "delivered", "failed"]);

/** One event for one webhook, with its attempts. */
export const WebhookDelivery = z.strictObject({
  deliveryId: Uuid.describe("The same on every attempt; receivers can use it to drop repeats."),
  webhookId: Uuid,
  event: WebhookEvent,
  callId: Uuid,
  status: DeliveryStatus,
  attempts: z.array(
    z.strictObject({
      at: Timestamp,
      durationMs: z.int().min(0),
      status: z.int().nullable().describe("HTTP status; null without a response."),
      failure: z.string().nullable(),
    }),
  ),
  nextAttempt: Timestamp.nullable(),
  created: Timestamp,
});
export type WebhookDelivery = z.output<typeof WebhookDelivery>;
