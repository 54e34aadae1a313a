/** Reads the response of the speech server, and describes a failure in one sentence without keys or transcripts. */

import { z } from "zod";
import { readBoundedText } from "../../net/bounded-text.ts";
import { EngineFailure, networkErrorCode, type EngineFailureOptions } from "../../ports/engine-failure.ts";
import { isPermanentRefusal } from "../permanent-refusal.ts";
import { understoodText } from "../understood-text.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** Limit of a response: it contains the words of a minute of speech, about 1 KB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/** Limit of characters of a server's own message. */
const MAX_MESSAGE_CHARS = 200;

export class SpeechServerError extends EngineFailure {
  override readonly name = "SpeechServerError";

  constructor(message: string, options: Pick<EngineFailureOptions, "isPermanent" | "type"> = {}) {
    super(message, options);
  }
}

const Answer = z.object({ text: z.string() });
/** Error forms of OpenAI, whisper.cpp, FastAPI and others. */
const Refusal = z.union([
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ detail: z.string() }).transform(({ detail }) => detail),
  z.object({ message: z.string() }).transform(({ message }) => message),
]);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: no schema matches it, which the caller reports.
  }
}

/** The text with normalised white space; empty when nothing was understood. */
export async function readAnswer(response: Response, apiKey: string | null): Promise<string> {
  const text = await readBoundedText(response, MAX_ANSWER_BYTES);
  if (text === null) {
    throw new SpeechServerError(
      `the speech server's answer is longer than ${String(MAX_ANSWER_BYTES)} bytes`,
      { type: "invalid_answer" },
    );
  }
  const body = parseJson(text);
  const answer = Answer.safeParse(body);
  if (answer.success) return understoodText(answer.data.text);
  // Some servers report an error with status 200.
  const message = `the speech server's answer is not a transcript${reasonIn(body, apiKey)}`;
  throw new SpeechServerError(message, { type: "invalid_answer" });
}

/** Why the server refused: its status and, where it can be repeated safely, its message. */
export async function refusalOf(response: Response, apiKey: string | null): Promise<SpeechServerError> {
  const status = String(response.status);
  if (response.status === 401 || response.status === 403) {
    // Servers often quote the key, or a part of it, here.
    await response.body?.cancel();
    const message = `the speech server does not accept the API key (${status})`;
    return new SpeechServerError(message, { isPermanent: true, type: status });
  }
  // A refusal whose body is incomplete or too long is still a refusal, and its status is more useful than that
  // error.
  const text = await readBoundedText(response, MAX_ANSWER_BYTES).catch(() => null);
  const reason = text === null ? "" : reasonIn(parseJson(text), apiKey);
  const isPermanent = isPermanentRefusal(response.status, text);
  return new SpeechServerError(`the speech server answered ${status}${reason}`, {
    isPermanent,
    type: status,
  });
}

/** `: message` of an error body, or an empty string. */
function reasonIn(body: unknown, apiKey: string | null): string {
  const refusal = Refusal.safeParse(body);
  if (!refusal.success) return "";
  const plain = refusal.data.replaceAll(/[\s\p{C}]+/gu, " ").trim();
  const safe = apiKey === null ? plain : plain.replaceAll(apiKey, "[key]");
  return safe === "" ? "" : `: ${safe.slice(0, MAX_MESSAGE_CHARS)}`;
}

/** For a connection that failed. The code of the cause is more useful than fetch's own "fetch failed". */
export function transportFailureOf(error: unknown): SpeechServerError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : null;
  const message = messageOf(cause);
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || message === "terminated") {
    return new SpeechServerError("the speech server closed the connection early", { type: code });
  }
  const type = networkErrorCode(error);
  return new SpeechServerError(`the speech server cannot be reached: ${code ?? message}`, { type });
}
