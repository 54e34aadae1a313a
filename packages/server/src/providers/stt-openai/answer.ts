/** Reads what the speech server says, and puts what goes wrong into one sentence without keys or transcripts. */

import { z } from "zod";

/** An answer holds the words of a minute of speech, about 1 KB; more than this is something else. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Of a server's own message, enough to see what it wants. */
const MAX_MESSAGE_CHARS = 200;

export class SpeechServerError extends Error {
  override readonly name = "SpeechServerError";
}

const Answer = z.object({ text: z.string() });
const Refusal = z.object({
  error: z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]),
});

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the body and frees the socket.
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_ANSWER_BYTES) {
      throw new SpeechServerError(
        `the speech server's answer is longer than ${String(MAX_ANSWER_BYTES)} bytes`,
      );
    }
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
export async function readAnswer(response: Response): Promise<string> {
  const answer = Answer.safeParse(parseJson(await readText(response)));
  if (!answer.success) throw new SpeechServerError("the speech server's answer is not a transcript");
  return answer.data.text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

/** Why the server refused: its status and, where it is safe to repeat, its message. */
export async function refusalOf(response: Response, apiKey: string | null): Promise<SpeechServerError> {
  const status = String(response.status);
  if (response.status === 401 || response.status === 403) {
    // Servers like to quote the key here.
    await response.body?.cancel();
    return new SpeechServerError(`the speech server does not accept the API key (${status})`);
  }
  const refusal = Refusal.safeParse(parseJson(await readText(response)));
  if (!refusal.success) return new SpeechServerError(`the speech server answered ${status}`);
  const plain = refusal.data.error.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  const safe = apiKey === null ? plain : plain.replaceAll(apiKey, "[key]");
  return new SpeechServerError(`the speech server answered ${status}: ${safe.slice(0, MAX_MESSAGE_CHARS)}`);
}

/** A connection that failed or broke off. The cause's code says more than fetch's own "fetch failed". */
export function transportFailureOf(error: unknown): SpeechServerError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  const detail = code ?? (cause instanceof Error ? cause.message : String(cause));
  return new SpeechServerError(`the speech server cannot be reached: ${detail}`);
}
