/** Data of jobs about one source. */

import type { LoadIds } from "../../store/corpora/loads.ts";

/** @throws when the data names no source */
export function readSourceIds(data: unknown): LoadIds {
  if (typeof data === "object" && data !== null && "accountId" in data && "sourceId" in data) {
    const { accountId, sourceId } = data;
    if (typeof accountId === "string" && typeof sourceId === "string") return { accountId, sourceId };
  }
  throw new Error("The job names no source.");
}
