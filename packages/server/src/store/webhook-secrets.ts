/** Secrets that sign what is sent to addresses of users: made here where none was given, and sealed at rest. */

import { randomBytes } from "node:crypto";
import { toJsonText, toStorableText } from "./json-text.ts";
import type { Sealer } from "./secrets.ts";

/** As long as the result of HMAC-SHA256, which it is the key of. */
const SECRET_BYTES = 32;

/** Receivers that follow Standard Webhooks know a secret in base64 by its beginning. */
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
