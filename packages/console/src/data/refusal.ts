/** Errors of requests whose responses are read directly. */

import { ParleyError } from "@parley/client/rest";

/** The error of a failed response. A body that is no problem document comes from a proxy in between. */
export async function refusalOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    const problem: unknown = JSON.parse(text);
    // The type is not checked: all fields that are read are texts that the service always sends.
    if (isProblem(problem)) return new ParleyError(problem, null);
  } catch {
    // Not JSON: reported below.
  }
  return new Error(
    `HTTP ${String(response.status)} from a server in front of the service: ${text.slice(0, 200)}`,
  );
}

function isProblem(value: unknown): value is ParleyError["problem"] {
  return typeof value === "object" && value !== null && "code" in value && "detail" in value;
}
