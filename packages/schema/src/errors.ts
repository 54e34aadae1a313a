/** The failures that the service answers with, and their one body. */

import { z } from "zod";

/** Every code with its status and the sentence that names it. The list is closed: clients branch on the code. */
const FAILURES = {
  validation_failed: { status: 400, title: "The request is not valid" },
  unauthenticated: { status: 401, title: "A valid API key is needed" },
  forbidden: { status: 403, title: "This is not allowed" },
  not_found: { status: 404, title: "There is no such thing here" },
  method_not_allowed: { status: 405, title: "This method is not offered here" },
  conflict: { status: 409, title: "The request conflicts with the present state" },
  gone: { status: 410, title: "This address is no longer valid" },
  payload_too_large: { status: 413, title: "The request is too large" },
  unsupported_media_type: { status: 415, title: "The body has a type that is not taken here" },
  wrong_state: { status: 422, title: "The call is not in a state for this" },
  too_early: { status: 425, title: "It is too early for this" },
  rate_limited: { status: 429, title: "Too many requests" },
  internal: { status: 500, title: "Something failed on our side" },
  not_available: { status: 501, title: "This is not available here yet" },
  no_capacity: { status: 503, title: "There is no capacity at the moment" },
} as const;

export type ErrorCode = keyof typeof FAILURES;

export const ERROR_CODES = Object.keys(FAILURES) as [ErrorCode, ...ErrorCode[]];

export function statusOfCode(code: ErrorCode): number {
  return FAILURES[code].status;
}

export function titleOfCode(code: ErrorCode): string {
  return FAILURES[code].title;
}

/** One problem of a request. `field` is a dotted path with list positions, such as `selectedTools.0.toolName`. */
export const FieldError = z.strictObject({ field: z.string(), message: z.string() });
export type FieldError = z.output<typeof FieldError>;

/** The body of every failure (RFC 9457, `application/problem+json`). `errors` only with `validation_failed`. */
export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(ERROR_CODES),
  errors: z.array(FieldError).optional(),
  requestId: z.string(),
});
export type Problem = z.output<typeof Problem>;

export interface ApiErrorOptions {
  readonly errors?: readonly FieldError[];
  /** Whole seconds, at least 1, for the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** A failure that is answered to the client as it is: `detail` must be fit to be read by anybody. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: ApiErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.errors = options.errors ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return statusOfCode(this.code);
  }
}

/** How many problems the sentence in `detail` names; all of them are in `errors`. */
const DETAIL_PROBLEMS = 3;

/** All problems of one request as one failure. */
export function validationError(errors: readonly FieldError[]): ApiError {
  const sentences = errors
    .slice(0, DETAIL_PROBLEMS)
    .map(({ field, message }) => (field === "" ? `The body ${message}` : `${field} ${message}`));
  const more = errors.length - sentences.length;
  const detail = sentences.join("; ") + (more > 0 ? `; and ${more} more` : "");
  return new ApiError("validation_failed", detail, { errors });
}

/** The body of a failure. `baseUrl` has no trailing slash; `spell` gives the names in it the deployment's spelling. */
export function problemOf(
  error: ApiError,
  baseUrl: string,
  requestId: string,
  spell: (text: string) => string = (text) => text,
): Problem {
  const errors = error.errors.map(({ field, message }) => ({ field: spell(field), message: spell(message) }));
  return {
    type: `${baseUrl}/problems/${error.code}`,
    title: titleOfCode(error.code),
    status: error.status,
    detail: spell(error.detail),
    code: error.code,
    ...(errors.length > 0 ? { errors } : {}),
    requestId,
  };
}
