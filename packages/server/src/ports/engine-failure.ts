/** What the failure of an engine says besides its message. */

export interface EngineFailureOptions extends ErrorOptions {
  readonly isPermanent?: boolean;
  readonly type?: string | null;
  readonly isExhausted?: boolean;
}

/** A failure of an engine whose kind is known. */
export class EngineFailure extends Error {
  override readonly name: string = "EngineFailure";
  /** The engine refuses its key, its address or its model, and will refuse the next request in the same way. */
  readonly isPermanent: boolean;
  /** For traces: an HTTP status, the code of a network error, or a word such as `timeout`. Null: unknown. */
  readonly type: string | null;
  /** Every engine of a list was tried. */
  readonly isExhausted: boolean;

  constructor(message: string, given: EngineFailureOptions = {}) {
    const { isPermanent = false, type = null, isExhausted = false, ...options } = given;
    super(message, options);
    this.isPermanent = isPermanent;
    this.type = type;
    this.isExhausted = isExhausted;
  }
}

/** HTTP statuses of a wrong key, a wrong address and an unknown model. */
const PERMANENT_STATUSES: readonly unknown[] = [401, 403, 404];

export function isPermanentStatus(status: unknown): boolean {
  return PERMANENT_STATUSES.includes(status);
}

export interface FailureKind {
  readonly permanent?: true;
  readonly errorType?: string;
  readonly exhausted?: true;
}

/** For an event of the call engine: a field is present only where it says something. */
export function failureKind(error: unknown): FailureKind {
  if (!(error instanceof EngineFailure)) return {};
  return {
    ...(error.isPermanent ? { permanent: true } : {}),
    ...(error.type === null ? {} : { errorType: error.type }),
    ...(error.isExhausted ? { exhausted: true } : {}),
  };
}

/** Limit of nested `cause` errors that are read; fetch wraps an error of a socket once or twice. */
const MAX_CAUSES = 4;

/** The code of a network error, such as `ECONNREFUSED`, of an error or of what caused it; null: there is none. */
export function networkErrorCode(error: unknown): string | null {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if ("code" in cause && typeof cause.code === "string" && /^[A-Z][A-Z_]{2,39}$/.test(cause.code))
      return cause.code;
    cause = cause.cause;
  }
  return null;
}
