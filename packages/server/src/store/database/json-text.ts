/** PostgreSQL text cannot contain NUL or unpaired surrogates; they are replaced by U+FFFD. */

/** NUL, and halves of surrogate pairs, as `JSON.stringify` writes them. */
const unstorableEscape = /\\u(?:0000|d[89a-f][0-9a-f]{2})/;

export function toStorableText(text: string): string {
  return text.toWellFormed().replaceAll("\u0000", "\uFFFD");
}

/** JSON text for `json` and `jsonb` columns. Undefined members are left out, as by `JSON.stringify`. */
export function toJsonText(value: object): string {
  const text = JSON.stringify(value);
  return unstorableEscape.test(text) ? JSON.stringify(storableCopy(value)) : text;
}

function storableCopy(value: unknown): unknown {
  if (typeof value === "string") return toStorableText(value);
  if (Array.isArray(value)) return value.map(storableCopy);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toStorableText(name), storableCopy(member)]),
  );
}
