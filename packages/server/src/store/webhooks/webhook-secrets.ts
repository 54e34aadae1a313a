/** Secrets that sign webhook requests: generated here if none was given, and sealed at rest. */

import { randomBytes } from "node:crypto";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import type { Sealer } from "../database/sealer.ts";

/** As long as the result of HMAC-SHA256, for which it is the key. */
const SECRET_BYTES = 32;

/** Receivers that follow Standard Webhooks recognise a secret in base64 by its prefix. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString("base64")}`;
}

/** `context` names the row, see `Sealer`. */
export function sealSecrets(sealer: Sealer, secrets: readonly string[], context: string): string {
  return sealer.seal(toJsonText(secrets.map(toStorableText)), context);
}

export function openSecrets(sealer: Sealer, sealed: string, context: string): readonly string[] {
  return JSON.parse(sealer.open(sealed, context)) as readonly string[];
}
