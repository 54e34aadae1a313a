/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export interface FieldError {
  field: string;
  message: string;
}

/** The body of every error (RFC 9457). Branch on `code`. Only `validation_failed` has `errors`. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  code:
    | "validation_failed"
    | "unauthenticated"
    | "forbidden"
    | "missing_scope"
    | "not_found"
    | "method_not_allowed"
    | "conflict"
    | "gone"
    | "payload_too_large"
    | "unsupported_media_type"
    | "wrong_state"
    | "too_early"
    | "rate_limited"
    | "internal"
    | "not_available"
    | "no_capacity"
    | "call_elsewhere";
  errors?: FieldError[] | undefined;
  requiredScope?: "read" | "calls" | "admin" | undefined;
  requestId: string;
}
