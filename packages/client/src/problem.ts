/** Failures of the service as errors. */

import type { Problem } from "@parley/schema";

/** A refused or failed request. `problem.code` is what to branch on; `message` is readable. */
export class ParleyError extends Error {
  override readonly name = "ParleyError";
  readonly problem: Problem;
  readonly status: number;
  /** Seconds to wait before another try, where the service says so. */
  readonly retryAfterSeconds: number | null;

  constructor(problem: Problem, retryAfterSeconds: number | null) {
    super(`${problem.code}: ${problem.detail}`);
    this.problem = problem;
    this.status = problem.status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Longest text of a foreign answer that goes into a message; proxies answer with whole pages. */
const MAX_FOREIGN_TEXT = 200;

/** The error that an answer stands for. What is no problem document came from something in between, and says so. */
export async function errorOf(response: Response): Promise<ParleyError> {
  const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(wait) ? wait : null;
  const text = await response.text();
  const problem = problemOf(text) ?? {
    type: "about:blank",
    title: response.statusText === "" ? `HTTP ${String(response.status)}` : response.statusText,
    status: response.status,
    detail: `HTTP ${String(response.status)} from something before the service: ${text.slice(0, MAX_FOREIGN_TEXT)}`,
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
    // Not JSON: the caller says what it was.
    return null;
  }
}
