/** Errors of vendors as short sentences for the operator, without keys. */

import { EngineFailure, isPermanentStatus, networkErrorCode } from "../../ports/engine-failure.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** Limit of what a message repeats of a vendor's words. */
export const MAX_FAILURE_CHARS = 300;

/** Shorter ones are no keys, and replacing them would damage words. */
const MIN_SECRET_CHARS = 4;

/** One line of at most `MAX_FAILURE_CHARS`, with `[key]` for each secret. */
export function bounded(text: string, secrets: readonly string[]): string {
  let line = text;
  for (const secret of secrets)
    if (secret.length >= MIN_SECRET_CHARS) line = line.replaceAll(secret, "[key]");
  line = line.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > MAX_FAILURE_CHARS ? `${line.slice(0, MAX_FAILURE_CHARS)}…` : line;
}

/** Where vendors put the sentence for people. */
const SENTENCES: readonly (readonly (string | number)[])[] = [
  ["error", "message"],
  ["detail", "message"],
  ["detail", 0, "msg"],
  ["message"],
  ["detail"],
  ["error"],
  ["err_msg"],
  ["title"],
];

/** The vendor's sentence in a JSON value; null: there is none. */
export function sentenceOf(body: unknown): string | null {
  for (const path of SENTENCES) {
    let value = body;
    for (const key of path)
      value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The sentence in the text of an answer. A page of a proxy has none; a plain text is one. */
function sentenceIn(text: string): string | null {
  try {
    return sentenceOf(JSON.parse(text));
  } catch {
    // Not JSON, or cut off in the middle.
    const plain = text.trim();
    return plain === "" || plain.startsWith("<") || plain.startsWith("{") ? null : plain;
  }
}

export interface RefusalText {
  readonly vendor: string;
  readonly status: number;
  /** The first bytes of the body. */
  readonly body: string;
  readonly secrets: readonly string[];
}

/** The failure of an HTTP status, such as a refused upgrade: `type` is the status. */
export function refusalFailure({ vendor, status, body, secrets }: RefusalText): EngineFailure {
  const sentence = sentenceIn(body);
  const words = sentence === null ? "" : `: ${bounded(sentence, secrets)}`;
  return new EngineFailure(`${vendor} answered HTTP ${String(status)}${words}`, {
    isPermanent: isPermanentStatus(status),
    type: String(status),
  });
}

/** The failure of a socket that could not be opened or that broke. */
export function networkFailure(vendor: string, error: unknown, secrets: readonly string[]): EngineFailure {
  const code = networkErrorCode(error);
  const words = code === null ? `: ${bounded(messageOf(error), secrets)}` : ` (${code})`;
  // The cause is left out: errors of the client library may hold the request with its headers.
  return new EngineFailure(`${vendor} cannot be reached${words}`, { type: code ?? "network" });
}
