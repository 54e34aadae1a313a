/** Describes a failure of the voice server as the end of a sentence for the operator. */
import { messageOf } from "../pacing/error-text.ts";

/** Limits of what is read of a response that is not audio, and of what a message repeats of it. */
const MAX_ERROR_BODY_BYTES = 4_096;
const MAX_MESSAGE_CHARS = 300;

/** Where servers put their sentence: OpenAI, others, FastAPI, ElevenLabs, and FastAPI of a field that it refuses. */
const MESSAGE_PATHS = [
  ["error", "message"],
  ["error"],
  ["detail"],
  ["message"],
  ["detail", "message"],
  ["detail", "0", "msg"],
] as const;

/** Reads a limited part of a body that is not audio, and drops the rest. */
export async function readErrorBody(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  if (response.body !== null) {
    for await (const bytes of response.body) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= MAX_ERROR_BODY_BYTES) break;
    }
  }
  return text;
}

/** `: message` from an OpenAI-like error body, or an empty string. */
export function serverMessage(body: string): string {
  const message = messageIn(body);
  return message === null ? "" : `: ${message}`;
}

function messageIn(text: string): string | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // Not JSON: an HTML page of a proxy adds nothing to the status.
    return null;
  }
  for (const path of MESSAGE_PATHS) {
    let value = body;
    for (const key of path)
      value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** Shorter secrets would remove ordinary words from messages. */
const LEAST_SECRET_CHARS = 8;

/** One line without the secrets, at most `MAX_MESSAGE_CHARS` long. */
export function asMessage(text: string, secrets: readonly string[]): string {
  let line = text;
  for (const secret of secrets)
    if (secret.length >= LEAST_SECRET_CHARS) line = line.replaceAll(secret, "[key]");
  line = line.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line;
}

/** One line without the key, at most `MAX_MESSAGE_CHARS` long. */
export function describeFailure(error: unknown, apiKey: string | null): string {
  const message = messageOf(error);
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  let line = message;
  if (error instanceof TypeError) line = `cannot be reached${code === null ? "" : ` (${code})`}`;
  if (message === "terminated") line = "closed the connection early";
  if (apiKey !== null && apiKey !== "") line = line.replaceAll(apiKey, "[key]");
  line = line.replaceAll(/\s+/g, " ");
  return line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS)}…` : line;
}
