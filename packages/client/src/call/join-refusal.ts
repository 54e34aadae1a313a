/** Errors of joins over HTTP. */

import { CallError, type CallErrorCode, type CallProblem } from "./call-error.ts";

const CODES: Readonly<Record<number, CallErrorCode>> = {
  404: "not_found",
  409: "already_joined",
  410: "gone",
};

const SENTENCES: Partial<Record<CallErrorCode, string>> = {
  not_found: "There is no call at this join URL, or it was created for another medium.",
  already_joined: "The call is already joined by another connection.",
  gone: "The call has ended, or was not joined in time. Create a new call.",
};

/** The error of a refused join. */
export async function joinRefusal(response: Response): Promise<CallError> {
  const problem = problemOf(await response.text().catch(() => ""));
  const code = CODES[response.status] ?? "refused";
  const said = problem?.detail ?? `The service answered with HTTP ${String(response.status)}.`;
  const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
  return new CallError(code, SENTENCES[code] ?? `The call could not be joined. ${said}`, {
    problem,
    retryAfterSeconds: Number.isFinite(wait) ? wait : null,
  });
}

function problemOf(text: string): CallProblem | null {
  try {
    const value: unknown = JSON.parse(text);
    const isProblem = typeof value === "object" && value !== null && "detail" in value && "code" in value;
    return isProblem ? (value as CallProblem) : null;
  } catch {
    // The response came from a proxy; its status is enough.
    return null;
  }
}
