/** What is thrown can be any value: these read it as an error. */

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The error itself, or an `Error` with the value's text. */
export function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
