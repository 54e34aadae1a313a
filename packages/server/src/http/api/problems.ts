/** Turns every thrown value into the one body of failures (D17), and explains each code under `/problems/{code}`. */

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import {
  ApiError,
  type ApiNames,
  type ErrorCode,
  ERROR_CODES,
  problemOf,
  statusOfCode,
  titleOfCode,
  toVendorText,
  validationError,
} from "@parley/schema";
import { BusyError } from "../../pacing/busy.ts";
import { RecordingsUnavailable } from "../../ports/recordings.ts";
import {
  AgentGoneError,
  ExpiryOutOfBoundsError,
  LastApiKeyError,
  MaskedValueError,
  MoreRightsError,
  StoreBusyError,
  UnknownAgentError,
} from "../../store/database/store-errors.ts";
import { CORS_HEADERS, SECURITY_HEADERS } from "./headers.ts";
import { MAX_BODY_BYTES } from "./json-body.ts";

/** Retry-After where nothing better is known. */
const RETRY_AFTER_SECONDS = 1;
/** A failed store of recordings is rarely back within a second. */
const STORE_RETRY_SECONDS = 10;
/** Codes whose answer always carries `Retry-After`. */
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  "too_early",
  "rate_limited",
  "no_capacity",
  "call_elsewhere",
]);

/** The public error for a failure. An unknown failure is internal, and its text is not shown. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreBusyError) {
    return new ApiError("no_capacity", "The database is busy; try again shortly.", { cause: error });
  }
  if (error instanceof BusyError) {
    const retryAfterSeconds = error.retryAfterMs / 1_000;
    return new ApiError("no_capacity", error.message, { cause: error, retryAfterSeconds });
  }
  if (error instanceof RecordingsUnavailable) {
    const detail = "The store with the recording cannot be reached; try again shortly.";
    return new ApiError("no_capacity", detail, { cause: error, retryAfterSeconds: STORE_RETRY_SECONDS });
  }
  if (error instanceof AgentGoneError) {
    return new ApiError("not_found", "There is no such agent.", { cause: error });
  }
  if (error instanceof LastApiKeyError) return new ApiError("conflict", error.message, { cause: error });
  if (error instanceof MoreRightsError) return new ApiError("forbidden", error.message, { cause: error });
  if (error instanceof ExpiryOutOfBoundsError) {
    return validationError([{ field: "expiryDate", message: error.message }]);
  }
  if (error instanceof UnknownAgentError) {
    return validationError([{ field: "agentId", message: "is not an agent of this account" }]);
  }
  if (error instanceof MaskedValueError) {
    const message = "must be given in full; responses show only its first characters";
    const errors = error.fields.map((field) => ({ field, message }));
    const detail = `${errors.map(({ field }) => field).join(", ")} ${message}`;
    return new ApiError("validation_failed", detail, { errors, cause: error });
  }
  return new ApiError(
    "internal",
    "Something failed in the service. The request id identifies the error in the log.",
    {
      cause: error,
    },
  );
}

/**
 * Failures of the HTTP library by its codes, in our words; null for unknown ones. `maxBodyBytes` is the limit
 * of the operation.
 */
export function libraryFailure(code: string | undefined, maxBodyBytes = MAX_BODY_BYTES): ApiError | null {
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ApiError("payload_too_large", `The body is larger than ${maxBodyBytes} bytes.`);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ApiError("unsupported_media_type", "The Content-Type header is not valid.");
    case "FST_REQ_FILE_TOO_LARGE":
    case "FST_PARTS_LIMIT":
    case "FST_FILES_LIMIT":
    case "FST_FIELDS_LIMIT":
      return new ApiError("payload_too_large", "The form contains more than one file of at most 10 MiB.");
    case "FST_PROTO_VIOLATION":
    case "FST_INVALID_MULTIPART_CONTENT_TYPE":
      return new ApiError("validation_failed", "The body is not a valid form.");
    case "FST_MP_PREMATURE_CLOSE":
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
    case "ECONNRESET":
    case "ECONNABORTED":
      return new ApiError("validation_failed", "The body ended before its announced length.");
    case undefined:
    default:
      return null;
  }
}

/** Requests that could not be parsed, by the code of Node's parser. */
export function brokenRequest(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") return new ApiError("payload_too_large", "The headers are too large.");
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new ApiError("validation_failed", "The request came too slowly.");
  }
  return new ApiError("validation_failed", "This is not a valid HTTP/1.1 request.");
}

export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function problemAnswer(
  error: ApiError,
  baseUrl: string,
  requestId: string,
  names: ApiNames = "neutral",
): ProblemAnswer {
  const headers: Record<string, string> = { "content-type": "application/problem+json" };
  if (error.code === "unauthenticated") headers["www-authenticate"] = "ApiKey";
  if (RETRYABLE.has(error.code) || error.retryAfterSeconds !== undefined) {
    headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfterSeconds ?? RETRY_AFTER_SECONDS)));
  }
  const spell = names === "vendor" ? toVendorText : undefined;
  return { status: error.status, headers, body: JSON.stringify(problemOf(error, baseUrl, requestId, spell)) };
}

/** How long a refused connection may take to read the answer and close; a slow network needs well under a second. */
const REFUSED_LINGER_MS = 2_000;

/** Writes a problem as the whole HTTP answer on a bare connection, and ends it. */
export function refuseConnection(socket: Duplex, answer: ProblemAnswer, requestId: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const headers = {
    ...SECURITY_HEADERS,
    ...CORS_HEADERS,
    ...answer.headers,
    "x-request-id": requestId,
    "content-length": String(Buffer.byteLength(answer.body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`;
  socket.end(`${[head, ...lines].join("\r\n")}\r\n\r\n${answer.body}`);
  // After an upgrade request the server's own time limits do not apply to the connection, and `end` closes our half
  // only: a client that never closes its half would keep it open. So it is read until its end, and cut after a limit.
  socket.resume();
  const cut = setTimeout(() => socket.destroy(), REFUSED_LINGER_MS);
  socket.once("close", () => clearTimeout(cut));
}

/** What each code means, and what to do about it. */
const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  validation_failed:
    "A field, a query value, a cursor or the JSON itself is not valid. `errors` lists each place and what is " +
    "wrong there; correct them all and send the request again.",
  unauthenticated:
    "No API key was sent, or the one sent does not work: it may be mistyped, revoked or expired. Send a valid key in " +
    "the X-API-Key header.",
  forbidden:
    "The resource exists, but this operation on it is not allowed in this deployment or for this account.",
  missing_scope:
    "The API key was created with scopes, and they do not include the one that this operation needs, which is in " +
    "`requiredScope`. Use another key.",
  not_found:
    "Nothing exists at this path, with this id or with this token. Resources of other accounts look the same.",
  method_not_allowed: "The path exists, but not with this method. The Allow header lists the methods it has.",
  conflict:
    "The request conflicts with the current state of a resource. Read the resource again before you repeat the request.",
  gone: "This URL was valid once. A join URL: its call has ended or was not joined in time; create a new call. The address of a SIP log: more than five minutes have passed; get a new one.",
  payload_too_large: "The body is larger, or nests deeper, than is allowed here.",
  unsupported_media_type: "The body has a type that this operation does not accept. Send application/json.",
  wrong_state: "The call is not joined or has ended, so this operation is not possible.",
  too_early:
    "The requested content is not ready yet. Send the request again after the time in the Retry-After header.",
  rate_limited:
    "There were more requests or calls than are allowed. Try again after the time in the Retry-After header.",
  internal:
    "The service failed. The request itself may be correct; the request id identifies the failure in the log.",
  not_available:
    "The interface defines this, but this version or deployment cannot do it yet. `detail` says what is missing.",
  no_capacity:
    "The service is at its capacity, cannot reach something that the answer needs, or is shutting down. Try again after the time in the Retry-After header.",
  call_elsewhere:
    "Another node of the service runs the call, and it cannot be reached now; or it is gone, and the call has not been " +
    "ended or taken over yet. The call has not ended. Try again after the time in the Retry-After header.",
};

export interface ProblemExplanation {
  readonly code: ErrorCode;
  readonly status: number;
  readonly title: string;
  readonly meaning: string;
}

/** Null for a text that is not a code. */
export function explainProblem(code: string): ProblemExplanation | null {
  const known = ERROR_CODES.find((one) => one === code);
  return known === undefined
    ? null
    : { code: known, status: statusOfCode(known), title: titleOfCode(known), meaning: MEANINGS[known] };
}

/** The explanations of all codes. */
export function allProblems(): ProblemExplanation[] {
  return ERROR_CODES.map((code) => ({
    code,
    status: statusOfCode(code),
    title: titleOfCode(code),
    meaning: MEANINGS[code],
  }));
}
