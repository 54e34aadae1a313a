/** The text of a sentence as vendors of voices get it. Pure. */

import { EngineFailure } from "../ports/engine-failure.ts";

export interface TextLimits {
  /** The beginning of the message of a failure, for example "Google". */
  readonly vendor: string;
  /** UTF-16 units. */
  readonly maxChars: number;
  /** As UTF-8, for a vendor that counts bytes. */
  readonly maxBytes?: number;
  /** For a server of the user's own, which gets the text as it is. */
  readonly keepsControls?: true;
}

/**
 * As long as `text`, so that offsets stay true: without control characters and halves of surrogate pairs, which vendors
 * refuse or speak. Null: nothing in it can be spoken; a sign such as "€" may be. Throws where it is too long.
 */
export function spokenText(text: string, limits: TextLimits): string | null {
  const { vendor, maxChars, maxBytes, keepsControls = false } = limits;
  const whole = text.toWellFormed();
  const plain = keepsControls ? whole : whole.replaceAll(/\p{Cc}/gu, " ");
  if (plain.length > maxChars) throw tooLong(`${vendor} takes at most ${String(maxChars)} characters`);
  if (!/[\p{L}\p{N}\p{S}]/u.test(plain)) return null;
  if (maxBytes !== undefined && Buffer.byteLength(plain) > maxBytes)
    throw tooLong(`${vendor} takes at most ${String(maxBytes)} bytes of text`);
  return plain;
}

function tooLong(limit: string): EngineFailure {
  return new EngineFailure(`${limit} at a time`, { type: "too_long" });
}

/** Whether a vendor must answer audio for it. A text of signs alone may be silent. */
export function mustSound(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
