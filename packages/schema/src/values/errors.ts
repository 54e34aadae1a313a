/** The errors of the API, and their body. */

import { z } from "zod";
import { Scope, type Scopes } from "./scope.ts";

/** All codes with their status and title. The list is closed: clients branch on the code. */
const FAILURES = {
  validation_failed: { status: 400, title: "The request is not valid" },
  unauthenticated: { status: 401, title: "A valid API key is needed" },
  forbidden: { status: 403, title: "This is not allowed" },
  missing_scope: { status: 403, title: "The API key lacks a scope" },
  not_found: { status: 404, title: "Not found" },
  method_not_allowed: { status: 405, title: "This method is not supported here" },
  conflict: { status: 409, title: "The request conflicts with the current state" },
  gone: { status: 410, title: "This address is no longer valid" },
  payload_too_large: { status: 413, title: "The request is too large" },
  unsupported_media_type: { status: 415, title: "The content type of the body is not supported here" },
  wrong_state: { status: 422, title: "The state of the call does not allow this" },
  too_early: { status: 425, title: "It is too early for this request" },
  rate_limited: { status: 429, title: "Too many requests" },
  internal: { status: 500, title: "Something failed in the service" },
  not_available: { status: 501, title: "This is not available yet" },
  no_capacity: { status: 503, title: "No capacity at the moment" },
  call_elsewhere: { status: 503, title: "The call runs on another node" },
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

/**
 * The body of every error (RFC 9457, `application/problem+json`). Only `validation_failed` has `errors`, only
 * `missing_scope` has `requiredScope`.
 */
export const Problem = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.enum(ERROR_CODES),
  errors: z.array(FieldError).optional(),
  requiredScope: Scope.optional(),
  requestId: z.string(),
});
export type Problem = z.output<typeof Problem>;

export interface ApiErrorOptions {
  readonly errors?: readonly FieldError[];
  readonly requiredScope?: Scope;
  /** Whole seconds, at least 1, for the `Retry-After` header. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** An error that is sent to the client unchanged. `detail` must not contain anything confidential. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requiredScope: Scope | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, detail: string, options: ApiErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.detail = detail;
    this.errors = options.errors ?? [];
    this.requiredScope = options.requiredScope;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return statusOfCode(this.code);
  }
}

/** For an API key whose scopes do not allow what needs `needed`. */
export function missingScope(scopes: Scopes, needed: Scope): ApiError {
  const has = scopes === null || scopes.length === 0 ? "no scope" : `only ${scopes.join(", ")}`;
  const detail = `This operation needs an API key with the scope ${needed}; this key has ${has}.`;
  return new ApiError("missing_scope", detail, { requiredScope: needed });
}

/** How many problems `detail` names; all of them are in `errors`. */
const DETAIL_PROBLEMS = 3;

/** The problems of one request as one sentence, which names the first three. */
export function describeProblems(errors: readonly FieldError[]): string {
  const sentences = errors
    .slice(0, DETAIL_PROBLEMS)
    .map(({ field, message }) => (field === "" ? `The body ${message}` : `${field} ${message}`));
  const more = errors.length - sentences.length;
  return sentences.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** One error for all problems of a request. */
export function validationError(errors: readonly FieldError[]): ApiError {
  return new ApiError("validation_failed", describeProblems(errors), { errors });
}

/** The body of an error. `baseUrl` has no trailing slash; `spell` applies the deployment's spelling of names. */
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
    ...(error.requiredScope === undefined ? {} : { requiredScope: error.requiredScope }),
    requestId,
  };
}
