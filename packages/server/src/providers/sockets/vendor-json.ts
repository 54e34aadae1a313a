/** JSON of a vendor. */

/** Throws what is said of garbage: no word of the content, which may be of a transcript. */
export function jsonObject(data: string | Uint8Array): object {
  if (typeof data !== "string") throw new Error("a binary message where a text is due");
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    throw new Error("a message that is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Error("a message that is not an object");
  return value;
}
