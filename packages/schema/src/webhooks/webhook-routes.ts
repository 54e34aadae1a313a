/** Routes of webhooks. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf, pageQuery } from "../values/page.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import {
  DeliveryStatus,
  Webhook,
  WebhookDelivery,
  WebhookPatch,
  WebhookTest,
  WebhookWrite,
} from "./webhook.ts";

const WebhookParams = z.strictObject({ webhook_id: Uuid });
const DeliveryParams = z.strictObject({ webhook_id: Uuid, delivery_id: Uuid });

export const WebhookPage = pageOf(Webhook);
export const WebhookDeliveryPage = pageOf(WebhookDelivery);

const ListWebhooksQuery = z.strictObject({
  ...pageQuery,
  agentId: Uuid.optional().describe("Only webhooks that are limited to this agent."),
});
const ListDeliveriesQuery = z.strictObject({ ...pageQuery, status: DeliveryStatus.optional() });

const one = { ...plain, tag: "webhooks", params: WebhookParams } as const;

export const webhookRoutes = {
  listWebhooks: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/webhooks",
    tag: "webhooks",
    summary: "List webhooks",
    query: ListWebhooksQuery,
    responses: { 200: json(WebhookPage, "A page of webhooks.") },
  },
  createWebhook: {
    ...plain,
    method: "POST",
    scope: "admin",
    path: "/api/webhooks",
    tag: "webhooks",
    summary: "Create a webhook; without secrets, the service makes one",
    request: WebhookWrite,
    responses: { 201: json(Webhook, "The new webhook.") },
  },
  getWebhook: {
    ...one,
    method: "GET",
    scope: "read",
    path: "/api/webhooks/{webhook_id}",
    summary: "Get a webhook",
    responses: { 200: json(Webhook, "The webhook.") },
    errors: ["not_found"],
  },
  replaceWebhook: {
    ...one,
    method: "PUT",
    scope: "admin",
    path: "/api/webhooks/{webhook_id}",
    summary: "Replace a webhook; without secrets, the service makes a new one",
    request: WebhookWrite,
    responses: { 200: json(Webhook, "The changed webhook.") },
    errors: ["not_found"],
  },
  updateWebhook: {
    ...one,
    method: "PATCH",
    scope: "admin",
    path: "/api/webhooks/{webhook_id}",
    summary: "Change a webhook; pending deliveries go to the new address",
    request: WebhookPatch,
    partial: true,
    responses: { 200: json(Webhook, "The changed webhook.") },
    errors: ["not_found"],
  },
  deleteWebhook: {
    ...one,
    method: "DELETE",
    scope: "admin",
    path: "/api/webhooks/{webhook_id}",
    summary: "Delete a webhook and its pending deliveries",
    responses: { 204: noContent },
    errors: ["not_found"],
  },
  testWebhook: {
    ...one,
    method: "POST",
    scope: "admin",
    path: "/api/webhooks/{webhook_id}/test",
    summary: "Send a sample call to a webhook, marked as a test",
    request: WebhookTest,
    responses: { 202: json(WebhookDelivery, "The new delivery.") },
    errors: ["not_found"],
  },
  listWebhookDeliveries: {
    ...one,
    method: "GET",
    scope: "read",
    path: "/api/webhooks/{webhook_id}/deliveries",
    summary: "List the deliveries of a webhook",
    query: ListDeliveriesQuery,
    responses: { 200: json(WebhookDeliveryPage, "A page of deliveries.") },
    errors: ["not_found"],
  },
  redeliverWebhookDelivery: {
    ...one,
    method: "POST",
    scope: "admin",
    path: "/api/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    summary: "Send a delivery again",
    params: DeliveryParams,
    responses: { 202: json(WebhookDelivery, "The delivery, pending again.") },
    errors: ["not_found", "wrong_state"],
  },
} as const satisfies Record<string, Route>;
