/** Tables of webhooks and their deliveries. */

import type { WebhookEvent, WebhookStatus } from "@parley/schema";
import type { CallColumns } from "./calls.ts";
import type {
  ColumnsOf,
  Defaulted,
  DefaultedJson,
  DefaultedTimestamp,
  NullableJson,
  NullableTimestamp,
  Timestamp,
} from "./columns.ts";

export interface WebhookFailure {
  /** ISO 8601 UTC with milliseconds. */
  readonly timestamp: string;
  readonly failure: string;
}

export interface WebhooksTable {
  id: string;
  account_id: string;
  /** Null: calls of every agent, and those without one. */
  agent_id: string | null;
  url: string;
  events: readonly WebhookEvent[];
  sealed_secrets: string;
  status: Defaulted<WebhookStatus>;
  last_status_change_at: NullableTimestamp;
  failures_in_row: Defaulted<number>;
  /** Newest first. */
  recent_failures: DefaultedJson<readonly WebhookFailure[]>;
  created_at: Timestamp;
}

export const webhooks: ColumnsOf<WebhooksTable> = {
  id: "uuid",
  account_id: "uuid",
  agent_id: "uuid null",
  url: "text",
  events: "text[]",
  sealed_secrets: "text",
  status: "text",
  last_status_change_at: "timestamptz null",
  failures_in_row: "integer",
  recent_failures: "json",
  created_at: "timestamptz",
};

export type DeliveryStatus = "pending" | "delivered" | "failed";

/** One finished attempt. */
export interface DeliveryAttempt {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly durationMs: number;
  /** The HTTP status; null without a response. */
  readonly status: number | null;
  /** One line; null if it was acknowledged. */
  readonly failure: string | null;
}

/** The queue of deliveries, and their log. */
export interface WebhookDeliveriesTable {
  id: Defaulted<string>;
  account_id: string;
  /** Null: a callback of the call. */
  webhook_id: string | null;
  call_id: string;
  event: WebhookEvent;
  /** Position of the event in the life of a call. */
  position: number;
  /** Deliveries of one receiver share its limits. */
  receiver: string;
  is_sample: Defaulted<boolean>;
  occurred_at: Timestamp;
  created_at: DefaultedTimestamp;
  status: Defaulted<DeliveryStatus>;
  due_at: NullableTimestamp;
  /** Set while an attempt is under way. */
  attempt_id: string | null;
  tries: Defaulted<number>;
  /** Oldest first. */
  attempts: DefaultedJson<readonly DeliveryAttempt[]>;
  /** The call at the event, until `sealed_body` is made of it. Its dates are as JSON writes them. */
  call_record: NullableJson<CallColumns>;
  sealed_body: string | null;
  finished_at: NullableTimestamp;
}

export const webhookDeliveries: ColumnsOf<WebhookDeliveriesTable> = {
  id: "uuid",
  account_id: "uuid",
  webhook_id: "uuid null",
  call_id: "uuid",
  event: "text",
  position: "smallint",
  receiver: "text",
  is_sample: "boolean",
  occurred_at: "timestamptz",
  created_at: "timestamptz",
  status: "text",
  due_at: "timestamptz null",
  attempt_id: "uuid null",
  tries: "integer",
  attempts: "jsonb",
  call_record: "json null",
  sealed_body: "text null",
  finished_at: "timestamptz null",
};

/** Deleted webhooks whose deliveries are yet to be erased. */
export interface WebhooksToEraseTable {
  webhook_id: string;
}

export const webhooksToErase: ColumnsOf<WebhooksToEraseTable> = { webhook_id: "uuid" };
