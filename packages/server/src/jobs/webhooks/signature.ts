/** Headers that prove who sent a delivery: ours, and those of Standard Webhooks (D154, D155). */

import { createHmac } from "node:crypto";
import type { HeaderPrefix } from "@parley/schema";

export interface SignedContent {
  readonly deliveryId: string;
  readonly body: string;
  readonly secrets: readonly string[];
  /** Time of this attempt; wall clock, ms since 1970. */
  readonly atMs: number;
}

/** Secrets with this prefix are base64 for Standard Webhooks; our own signature uses every secret as it is written. */
const BASE64_SECRET = "whsec_";

export function deliveryHeaders(
  content: SignedContent,
  prefixes: readonly HeaderPrefix[],
): Record<string, string> {
  const { deliveryId, body, secrets, atMs } = content;
  const seconds = String(Math.floor(atMs / 1000));
  const headers: Record<string, string> = { "webhook-id": deliveryId, "webhook-timestamp": seconds };
  if (secrets.length === 0) return headers;
  const timestamp = microseconds(atMs);
  const own = secrets.map((secret) =>
    createHmac("sha256", secret).update(body).update(timestamp).digest("hex"),
  );
  for (const prefix of prefixes) {
    headers[`${prefix}Webhook-Timestamp`] = timestamp;
    headers[`${prefix}Webhook-Signature`] = own.join(",");
  }
  const standard = secrets.map((secret) => {
    const signed = createHmac("sha256", standardKey(secret)).update(`${deliveryId}.${seconds}.${body}`);
    return `v1,${signed.digest("base64")}`;
  });
  return { ...headers, "webhook-signature": standard.join(" ") };
}

/** Older date parsers need six digits and an offset instead of `Z`. */
function microseconds(atMs: number): string {
  return new Date(atMs).toISOString().replace("Z", "000+00:00");
}

function standardKey(secret: string): Buffer {
  return secret.startsWith(BASE64_SECRET)
    ? Buffer.from(secret.slice(BASE64_SECRET.length), "base64")
    : Buffer.from(secret, "utf8");
}
