/** Reads the response of a tool's server (D144, D145, D147). Pure. */

import { HEADER_PREFIXES, REACTIONS, TOOL_RESPONSE_TYPES, type ToolOutcome } from "@parley/schema";
import {
  cutBytes,
  cutChars,
  cutResult,
  describeBinary,
  MAX_DETAIL_BYTES,
  MAX_FAILURE_CHARS,
  namesSecret,
  readText,
  resultWithoutSecrets,
  withoutSecrets,
} from "../tool-text.ts";

export interface ServerAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** True: the body is longer than what was read. */
  readonly truncated: boolean;
}

type Completed = Extract<ToolOutcome, { readonly kind: "completed" }>;
type Failed = Extract<ToolOutcome, { readonly kind: "failed" }>;

/** Limit of bytes of JSON; the limit of the state of a call. */
const MAX_STATE_BYTES = 65_536;

/** Both prefixes are always read. If a response has both, the neutral one is used. */
const PREFIXES = HEADER_PREFIXES.map((prefix) => prefix.toLowerCase());

/**
 * @param secrets masked in failures, for the record and the model
 * @param inResults the same for successful results, of which nothing else may be masked
 */
export function toolAnswer(
  answer: ServerAnswer,
  secrets: readonly string[],
  inResults: readonly string[] = [],
): ToolOutcome {
  const { status } = answer;
  if (status < 200 || status > 299) {
    const body = cutChars(shownText(answer, secrets) ?? "", MAX_FAILURE_CHARS);
    return failedAnswer(body === "" ? `HTTP ${status}` : `HTTP ${status}\n${body}`, answer, secrets);
  }
  const problem = (reason: string): Failed => failedAnswer(reason, answer, secrets);
  const type = choice(answer, "response-type", TOOL_RESPONSE_TYPES);
  const reaction = choice(answer, "agent-reaction", REACTIONS);
  if (type === undefined) return problem("unusable header X-Service-Response-Type");
  if (reaction === undefined) return problem("unusable header X-Service-Agent-Reaction");
  const state = stateUpdate(header(answer, "update-call-state"));
  if (state === undefined) return problem("unusable header X-Service-Update-Call-State");
  const responseType = type ?? "tool-response";
  const result =
    responseType === "tool-response"
      ? resultText(answer, inResults)
      : documentText(answer, responseType, inResults);
  if (result === null) return problem(`unusable body for ${responseType}`);
  return { kind: "completed", result, responseType, reaction, updateCallState: state };
}

/** @param reason what the model sees after "The tool failed: "; without secrets */
function failedAnswer(reason: string, answer: ServerAnswer, secrets: readonly string[]): Failed {
  // Values for this connection only, such as cookies and tokens: never recorded.
  const headers = Object.entries(answer.headers).filter(([name]) => !namesSecret(name));
  const text = shownText(answer, secrets);
  const details = [
    `HTTP ${String(answer.status)}`,
    ...headers.map(([name, value]) => withoutSecrets(`${name}: ${value}`, secrets)),
    "",
    text === null
      ? describeBinary(answer.body, answer.headers, answer.truncated)
      : cutBytes(Buffer.from(text), MAX_DETAIL_BYTES),
  ].join("\n");
  return {
    kind: "failed",
    cause: "error",
    text: `The tool failed: ${reason}`,
    errorDetails: details,
  };
}

/** The complete body, which is cut afterwards: a secret that was cut first could not be found. Null: not text. */
function shownText({ body, headers, truncated }: ServerAnswer, secrets: readonly string[]): string | null {
  const text = readText(body, headers);
  if (text === null) return null;
  const hidden = withoutSecrets(text, secrets);
  if (!truncated) return hidden;
  // The part that was read may end within a secret.
  const longest = secrets.reduce((length, secret) => Math.max(length, secret.length), 0);
  return hidden.slice(0, Math.max(0, hidden.length - longest));
}

function header({ headers }: ServerAnswer, name: string): string | null {
  for (const prefix of PREFIXES) {
    const value = headers[prefix + name];
    if (value !== undefined) return value.trim();
  }
  return null;
}

/** Null: absent; undefined: present, but not one of the values. */
function choice<Option extends string>(
  answer: ServerAnswer,
  name: string,
  options: readonly Option[],
): Option | null | undefined {
  const value = header(answer, name)?.toLowerCase() ?? null;
  return value === null ? null : options.find((option) => option === value);
}

function stateUpdate(text: string | null): Completed["updateCallState"] | undefined {
  if (text === null) return null;
  // Header bytes arrive as Latin-1; JSON from other servers is UTF-8.
  const bytes = Buffer.from(text, "latin1");
  return bytes.length > MAX_STATE_BYTES ? undefined : (jsonObject(bytes.toString()) ?? undefined);
}

function resultText(answer: ServerAnswer, secrets: readonly string[]): string {
  const text = readText(answer.body, answer.headers);
  if (text === null) return describeBinary(answer.body, answer.headers, answer.truncated);
  return text === "" ? "OK" : cutResult(resultWithoutSecrets(text, secrets));
}

/**
 * The document for the engine; null: it is not a document. A new stage is never shown, and its tools need their keys.
 */
function documentText(
  answer: ServerAnswer,
  type: Completed["responseType"],
  secrets: readonly string[],
): string | null {
  const text = answer.truncated ? null : readText(answer.body, answer.headers);
  if (text === null) return null;
  if (text.trim() === "") return type === "hang-up" ? "{}" : null;
  const document = jsonObject(text);
  if (document === null) return null;
  if (type === "hang-up") {
    const { strict = null, message = null } = document;
    if (strict !== null && typeof strict !== "boolean") return null;
    if (message !== null && typeof message !== "string") return null;
  }
  return type === "new-stage" ? text : resultWithoutSecrets(text, secrets);
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    return null; // Not JSON at all: the caller says so.
  }
}
