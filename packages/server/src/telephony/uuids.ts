/** Ids that are made from a text. Pure. */

import { createHash } from "node:crypto";

/** A UUID of version 8 (RFC 9562), which is the same for the same text. */
export function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  const variant = `8${hex.slice(17, 20)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant, hex.slice(20, 32)].join("-");
}
