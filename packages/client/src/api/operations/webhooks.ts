/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookPage,
  WebhookPatch,
  WebhookTest,
  WebhookWrite,
} from "../records/webhooks.ts";

/** List webhooks: `GET /api/webhooks`. Needs the scope `read`. */
export interface ListWebhooksInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** Only webhooks that are limited to this agent. A UUID. */
    agentId?: string | undefined;
  } | undefined;
}

/**
 * Create a webhook; without secrets, the service makes one: `POST /api/webhooks`. Needs the scope `admin`.
 */
export interface CreateWebhookInput extends RequestOptions {
  readonly body: WebhookWrite;
}

/** Get a webhook: `GET /api/webhooks/{webhook_id}`. Needs the scope `read`. */
export interface GetWebhookInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
}

/**
 * Replace a webhook; without secrets, the service makes a new one: `PUT /api/webhooks/{webhook_id}`. Needs
 * the scope `admin`.
 */
export interface ReplaceWebhookInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
  readonly body: WebhookWrite;
}

/**
 * Change a webhook; pending deliveries go to the new address: `PATCH /api/webhooks/{webhook_id}`. Needs the
 * scope `admin`.
 */
export interface UpdateWebhookInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
  readonly body?: WebhookPatch | undefined;
}

/**
 * Delete a webhook and its pending deliveries: `DELETE /api/webhooks/{webhook_id}`. Needs the scope `admin`.
 */
export interface DeleteWebhookInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
}

/**
 * Send a sample call to a webhook, marked as a test: `POST /api/webhooks/{webhook_id}/test`. Needs the scope
 * `admin`.
 */
export interface TestWebhookInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
  readonly body?: WebhookTest | undefined;
}

/** List the deliveries of a webhook: `GET /api/webhooks/{webhook_id}/deliveries`. Needs the scope `read`. */
export interface ListWebhookDeliveriesInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
  };
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    status?: "pending" | "delivered" | "failed" | undefined;
  } | undefined;
}

/**
 * Send a delivery again: `POST /api/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver`. Needs the
 * scope `admin`.
 */
export interface RedeliverWebhookDeliveryInput extends RequestOptions {
  readonly params: {
    /** A UUID. */
    webhook_id: string;
    /** A UUID. */
    delivery_id: string;
  };
}

export interface WebhooksOperations {
  /** List webhooks. */
  "GET /api/webhooks": { input: ListWebhooksInput; output: WebhookPage; row: Webhook };
  /** Create a webhook; without secrets, the service makes one. */
  "POST /api/webhooks": { input: CreateWebhookInput; output: Webhook };
  /** Get a webhook. */
  "GET /api/webhooks/{webhook_id}": { input: GetWebhookInput; output: Webhook };
  /** Replace a webhook; without secrets, the service makes a new one. */
  "PUT /api/webhooks/{webhook_id}": { input: ReplaceWebhookInput; output: Webhook };
  /** Change a webhook; pending deliveries go to the new address. */
  "PATCH /api/webhooks/{webhook_id}": { input: UpdateWebhookInput; output: Webhook };
  /** Delete a webhook and its pending deliveries. */
  "DELETE /api/webhooks/{webhook_id}": { input: DeleteWebhookInput; output: undefined };
  /** Send a sample call to a webhook, marked as a test. */
  "POST /api/webhooks/{webhook_id}/test": { input: TestWebhookInput; output: WebhookDelivery };
  /** List the deliveries of a webhook. */
  "GET /api/webhooks/{webhook_id}/deliveries": { input: ListWebhookDeliveriesInput; output: WebhookDeliveryPage; row: WebhookDelivery };
  /** Send a delivery again. */
  "POST /api/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": { input: RedeliverWebhookDeliveryInput; output: WebhookDelivery };
}
