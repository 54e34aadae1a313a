/** The body of a delivery (D152). */

import type { ClaimedDelivery } from "../../store/webhooks/webhook-queue.ts";

type Delivery = Pick<ClaimedDelivery, "event" | "occurredAt" | "webhookId" | "deliveryId" | "isSample">;

export function deliveryBody(delivery: Delivery, call: unknown): string {
  const { event, occurredAt: timestamp, webhookId, deliveryId, isSample } = delivery;
  return JSON.stringify({
    event,
    call,
    timestamp,
    webhookId,
    deliveryId,
    ...(isSample ? { test: true } : {}),
  });
}
