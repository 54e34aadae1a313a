/** Recognises a row that repeats a unique key. */

const UNIQUE_VIOLATION = "23505";

/** Whether the database refused the row because of this key. PostgreSQL names it. */
export function repeatsKey(error: unknown, key: string): boolean {
  if (!(error instanceof Error) || !("code" in error) || error.code !== UNIQUE_VIOLATION) return false;
  return "constraint" in error && error.constraint === key;
}
