/** Describes a failure of the model server as the end of a sentence for the operator, without prompt, reply or key. */

import { networkErrorCode } from "../../ports/engine-failure.ts";
import { isPermanentRefusal } from "../permanent-refusal.ts";

/** Limit of characters that a server's own message adds. */
const MAX_MESSAGE_CHARS = 300;

/**
 * `error`: a thrown value or the `error` of a stream part. Errors of the SDK carry the request and the raw answer as
 * properties and in their messages, so they are taken apart here and never passed on.
 */
export function describeFailure(error: unknown, secrets: readonly string[]): string {
  let line = sentence(error);
  for (const secret of secrets) if (secret !== "") line = line.replaceAll(secret, "[key]");
  line = line.replaceAll(/\s+/g, " ");
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line;
}

function sentence(error: unknown): string {
  if (!(error instanceof Error) || error.name === "AI_StreamProviderError") {
    // A mid-stream `{"error": …}`: wrapped by the SDK, the server's own object, or only its text.
    const message = typeof error === "string" ? error : field(error, "message");
    return typeof message === "string" && message !== ""
      ? `reported an error: ${message}`
      : "reported an error without a reason";
  }
  switch (error.name) {
    case "AI_APICallError":
      return apiCallSentence(error);
    case "AI_TypeValidationError":
    case "AI_JSONParseError":
      return "sent something that is not a chat completion";
    case "AI_InvalidResponseDataError":
      return "sent an incomplete answer or one that cannot be understood";
    case "AI_EmptyResponseBodyError":
      return "answered with an empty body";
    case "AI_InvalidToolInputError":
    case "AI_NoSuchToolError":
      return "called a tool in a way that cannot be understood";
    case "AnswerTooLong":
      return error.message;
    default:
      return connectionSentence(error) ?? `failed (${error.name})`;
  }
}

function apiCallSentence(error: Error): string {
  const status = field(error, "statusCode");
  if (typeof status !== "number" || status < 300)
    return connectionSentence(error) ?? "sent something that is not a chat completion";
  const message = saidBy(error);
  return message === null ? `answered HTTP ${String(status)}` : `answered HTTP ${String(status)}: ${message}`;
}

/** What the server says of a refused request. */
function saidBy(error: Error): string | null {
  const data = field(error, "data");
  // Mistral and Amazon Bedrock have no object around it.
  const message = field(field(data, "error"), "message") ?? field(data, "message");
  return typeof message === "string" && message !== "" ? message : null;
}

/** Statuses of a body with a field that is refused. */
const REFUSED_FIELDS: readonly unknown[] = [400, 422];

/**
 * Whether the model takes no temperature, or no other than its own. OpenAI: "Unsupported value: 'temperature' does not
 * support 0 with this model"; Anthropic, also by Amazon Bedrock: "`temperature` is deprecated for this model".
 */
export function refusesTemperature(error: unknown): boolean {
  if (!(error instanceof Error) || !REFUSED_FIELDS.includes(field(error, "statusCode"))) return false;
  return /\btemperature\b/i.test(saidBy(error) ?? "");
}

/** Whether the server refuses the key, the address or the model. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const body = field(error, "responseBody");
  return isPermanentRefusal(field(error, "statusCode"), typeof body === "string" ? body : null);
}

/** The status of an answer, or the code of a network error; null: neither. */
export function failureType(error: unknown): string | null {
  const status = field(error, "statusCode");
  return typeof status === "number" && status >= 300 ? String(status) : networkErrorCode(error);
}

/** Limit of nested `cause` errors that are read; fetch wraps a socket's error once or twice. */
const MAX_CAUSES = 4;

/** Null when the connection did not fail. */
function connectionSentence(error: Error): string | null {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    const code = field(cause, "code");
    if (cause.message === "unexpected redirect") return "answered with a redirect, which is not followed";
    if (code === "UND_ERR_SOCKET" || cause.message === "terminated") return "closed the connection early";
    if (typeof code === "string" && /^E[A-Z]+$/.test(code)) return `cannot be reached (${code})`;
    cause = cause.cause;
  }
  return null;
}

function field(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
