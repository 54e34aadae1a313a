/** Estimates how large a value of JSON is, without writing it out. */

/** Bytes of a number, a separator or a pair of quotes. */
const BYTES_OF_ANYTHING = 4;

/** Approximate bytes of its JSON text, counted until there are more than `limit`. Parsers bound the depth of values. */
export function roughBytes(value: unknown, limit: number): number {
  if (typeof value === "string") return BYTES_OF_ANYTHING + value.length;
  let bytes = BYTES_OF_ANYTHING;
  if (typeof value !== "object" || value === null) return bytes;
  // A list of the entries would cost more than what is counted here.
  for (const key in value) {
    bytes += key.length + roughBytes((value as Readonly<Record<string, unknown>>)[key], limit - bytes);
    if (bytes > limit) break;
  }
  return bytes;
}
