/** What a receiver gets (D152). */

import type { ClaimedDelivery } from "../../store/webhook-queue.ts";

type Told = Pick<ClaimedDelivery, "event" | "occurredAt" | "webhookId" | "deliveryId" | "isSample">;

export function deliveryBody(delivery: Told, call: unknown): string {
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
