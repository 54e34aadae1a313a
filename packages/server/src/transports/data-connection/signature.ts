/** The headers of the upgrade request of a data connection (D127). */

import { createHmac } from "node:crypto";
import type { HeaderPrefix } from "@parley/schema";

const SIGNATURE_HEADERS = ["Call-ID", "Signature-Timestamp", "Signature"] as const;

/** Made by the websocket client; a second one would break the handshake. */
const HANDSHAKE_HEADER = /^(?:host|connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/i;
/** RFC 9110, 5.6.2 and 5.5: at anything else the HTTP client throws. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

export interface UpgradeHeadersInput {
  readonly callId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sharedSecrets: readonly string[];
  /** ms since 1970. */
  readonly nowMs: number;
  /** The signature is sent under each of them. */
  readonly prefixes: readonly HeaderPrefix[];
}

/** Custom headers, but for those that would replace ours, and the signature if there are secrets. */
export function upgradeHeaders(input: UpgradeHeadersInput): Record<string, string> {
  const { callId, headers, sharedSecrets, nowMs, prefixes } = input;
  const ours = new Set(
    prefixes.flatMap((prefix) => SIGNATURE_HEADERS.map((name) => `${prefix}${name}`.toLowerCase())),
  );
  const sent = Object.fromEntries(
    Object.entries(headers).filter(
      ([name, value]) =>
        NAME.test(name) && VALUE.test(value) && !HANDSHAKE_HEADER.test(name) && !ours.has(name.toLowerCase()),
    ),
  );
  if (sharedSecrets.length === 0) return sent;
  const timestamp = new Date(nowMs).toISOString().replace("Z", "+00:00");
  const signature = sharedSecrets
    .map((secret) => createHmac("sha256", secret).update(`${callId}${timestamp}`).digest("hex"))
    .join(",");
  const values = { "Call-ID": callId, "Signature-Timestamp": timestamp, Signature: signature };
  for (const prefix of prefixes) {
    for (const name of SIGNATURE_HEADERS) sent[`${prefix}${name}`] = values[name];
  }
  return sent;
}
