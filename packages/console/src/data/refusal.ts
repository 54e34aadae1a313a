/** Refusals of requests whose answers are read as they come. */

import { ParleyError } from "@parley/client/rest";

/** The error that a failed answer stands for; what is no problem document came from something in between. */
export async function refusalOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    const problem: unknown = JSON.parse(text);
    // The type is the service's word; everything that is read of it is a text that it always has.
    if (isProblem(problem)) return new ParleyError(problem, null);
  } catch {
    // Not JSON: said below.
  }
  return new Error(
    `HTTP ${String(response.status)} from something before the service: ${text.slice(0, 200)}`,
  );
}

function isProblem(value: unknown): value is ParleyError["problem"] {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}
