/** Errors of the service. */

import type { Problem } from "./api/records/errors.ts";

/** A refused or failed request. Branch on `problem.code`; `message` is for people. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly problem: Problem;
  readonly status: number;
  /** Seconds to wait before a retry, if the service sends them. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem, retryAfterSeconds: number | null) {
    super(`${problem.code}: ${problem.detail}`);
    this.problem = problem;
    this.status = problem.status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Longest text of a foreign response in a message; proxies send whole pages. */
const MAX_FOREIGN_TEXT = 200;

/** The error of a response. A body that is not a problem document comes from a server in between. */
export async function errorOf(response: Response): Promise<ParleyError> {
  const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(wait) ? wait : null;
  const text = await response.text();
  const problem = problemOf(text) ?? {
    type: "about:blank",
    title: response.statusText === "" ? `HTTP ${String(response.status)}` : response.statusText,
    status: response.status,
    detail: `HTTP ${String(response.status)} from a server in front of the service: ${text.slice(0, MAX_FOREIGN_TEXT)}`,
    code: response.status >= 500 ? "internal" : "validation_failed",
    requestId: response.headers.get("x-request-id") ?? "",
  };
  return new ParleyError(problem, retryAfterSeconds);
}

function problemOf(text: string): Problem | null {
  try {
    const value: unknown = JSON.parse(text);
    const isProblem = typeof value === "object" && value !== null && "code" in value && "detail" in value;
    return isProblem ? (value as Problem) : null;
  } catch {
    // Not JSON: reported by the caller.
    return null;
  }
}
