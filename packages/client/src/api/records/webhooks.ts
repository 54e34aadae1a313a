/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

/** An address that receives events of calls, with the secrets that sign its requests. */
export interface Webhook {
  /** A UUID. */
  webhookId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** A URL. At most 200 characters. */
  url: string;
  /** Events to send; repeated ones count once. */
  events: Array<"call.started" | "call.joined" | "call.ended" | "call.billed">;
  /** Only calls of this agent. Null: all calls of the account. A UUID. */
  agentId: string | null;
  /**
   * Each signs the requests; use several to rotate. Without secrets, the service makes one. At most 10
   * entries.
   */
  secrets: string[];
  /** `unhealthy` after several failed attempts in a row. Deliveries continue. */
  status: "normal" | "unhealthy";
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  lastStatusChange: string | null;
  /** Newest first. */
  recentFailures: Array<{
    /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
    timestamp: string;
    failure: string;
  }>;
}

/** One event for one webhook, with its attempts. */
export interface WebhookDelivery {
  /** The same on every attempt; receivers can use it to drop repeats. A UUID. */
  deliveryId: string;
  /** A UUID. */
  webhookId: string;
  event: "call.started" | "call.joined" | "call.ended" | "call.billed";
  /** A UUID. */
  callId: string;
  status: "pending" | "delivered" | "failed";
  attempts: Array<{
    /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
    at: string;
    /** At least 0. */
    durationMs: number;
    /** HTTP status; null without a response. */
    status: number | null;
    failure: string | null;
  }>;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  nextAttempt: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
}

export interface WebhookDeliveryPage {
  results: WebhookDelivery[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface WebhookPage {
  results: Webhook[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

/** The body that changes a webhook. Null removes the agent; null secrets are replaced by a new secret. */
export interface WebhookPatch {
  /** A URL. At most 200 characters. */
  url?: string | undefined;
  /** Events to send; repeated ones count once. */
  events?: Array<"call.started" | "call.joined" | "call.ended" | "call.billed"> | undefined;
  /** A UUID. */
  agentId?: string | null | undefined;
  /**
   * Each signs the requests; use several to rotate. Without secrets, the service makes one. At most 10
   * entries.
   */
  secrets?: string[] | null | undefined;
  /** `normal` resets the failed attempts; `unhealthy` has no effect. */
  status?: "normal" | "unhealthy" | undefined;
}

/** The event to send a sample of. */
export interface WebhookTest {
  /** Default: `"call.ended"`. */
  event?: "call.started" | "call.joined" | "call.ended" | "call.billed" | undefined;
}

/** The body that creates or replaces a webhook. Without secrets, the service makes one. */
export interface WebhookWrite {
  /** A URL. At most 200 characters. */
  url: string;
  /** Events to send; repeated ones count once. */
  events: Array<"call.started" | "call.joined" | "call.ended" | "call.billed">;
  /** A UUID. */
  agentId?: string | undefined;
  /**
   * Each signs the requests; use several to rotate. Without secrets, the service makes one. At most 10
   * entries.
   */
  secrets?: string[] | undefined;
  /** `normal` resets the failed attempts; `unhealthy` has no effect. */
  status?: "normal" | "unhealthy" | undefined;
}
