/** Reads what the speech server says, and puts what goes wrong into one sentence without keys or transcripts. */

import { z } from "zod";
import { understoodText } from "./understood-text.ts";

/** An answer holds the words of a minute of speech, about 1 KB; more than this is something else. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Of a server's own message, enough to see what it wants. */
const MAX_MESSAGE_CHARS = 200;

export class SpeechServerError extends Error {
  override readonly name = "SpeechServerError";
}

const Answer = z.object({ text: z.string() });
/** As OpenAI, whisper.cpp, FastAPI and others write them. */
const Refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
  z.object({ message: z.string() }).transform(({ message }) => message),
]);

/** Null when the body is longer than `MAX_ANSWER_BYTES`. */
async function readText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the body and frees the socket.
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: no schema matches it, which the caller reports.
  }
}

/** The text, with white space made plain; empty when nothing was understood. */
export async function readAnswer(response: Response, apiKey: string | null): Promise<string> {
  const text = await readText(response);
  if (text === null) {
    throw new SpeechServerError(
      `the speech server's answer is longer than ${String(MAX_ANSWER_BYTES)} bytes`,
    );
  }
  const body = parseJson(text);
  const answer = Answer.safeParse(body);
  if (answer.success) return understoodText(answer.data.text);
  // Some servers report an error with status 200.
  throw new SpeechServerError(`the speech server's answer is not a transcript${reasonIn(body, apiKey)}`);
}

/** Why the server refused: its status and, where it is safe to repeat, its message. */
export async function refusalOf(response: Response, apiKey: string | null): Promise<SpeechServerError> {
  const status = String(response.status);
  if (response.status === 401 || response.status === 403) {
    // Servers like to quote the key here, and parts of it.
    await response.body?.cancel();
    return new SpeechServerError(`the speech server does not accept the API key (${status})`);
  }
  // A refusal that breaks off or is too long is still a refusal, and its status says more than that.
  const text = await readText(response).catch(() => null);
  const reason = text === null ? "" : reasonIn(parseJson(text), apiKey);
  return new SpeechServerError(`the speech server answered ${status}${reason}`);
}

/** `: message` of an error body, or nothing. */
function reasonIn(body: unknown, apiKey: string | null): string {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success) return "";
  const plain = refusal.data.replaceAll(/[\s\p{C}]+/gu, " ").trim();
  const safe = apiKey === null ? plain : plain.replaceAll(apiKey, "[key]");
  return safe === "" ? "" : `: ${safe.slice(0, MAX_MESSAGE_CHARS)}`;
}

/** A connection that failed or broke off. The cause's code says more than fetch's own "fetch failed". */
export function transportFailureOf(error: unknown): SpeechServerError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  const message = cause instanceof Error ? cause.message : String(cause);
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || message === "terminated") {
    return new SpeechServerError("the speech server broke the connection off");
  }
  return new SpeechServerError(`the speech server cannot be reached: ${code ?? message}`);
}
