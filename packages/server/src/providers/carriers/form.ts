/** Bodies of the carriers' requests: `application/x-www-form-urlencoded`, and JSON at Telnyx. */

import type { FormParams } from "./signatures.ts";

/** The largest requests of carriers have about 40 fields. */
const MAX_FIELDS = 500;

/** Null: more fields than a carrier sends, or not UTF-8. */
export function readForm(body: Uint8Array): FormParams | null {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    // The caller treats the request as one that cannot be read.
    return null;
  }
  const params = [...new URLSearchParams(text)];
  return params.length > MAX_FIELDS ? null : params;
}

/** The fields of a body; of several with one name the first counts. Null: as `readForm`. */
export function readFields(body: Uint8Array): ReadonlyMap<string, string> | null {
  const params = readForm(body);
  if (params === null) return null;
  const fields = new Map<string, string>();
  for (const [name, value] of params) if (!fields.has(name)) fields.set(name, value);
  return fields;
}

/** One header; several of a name, or none, are an empty text. */
export function headerOf(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  name: string,
): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
