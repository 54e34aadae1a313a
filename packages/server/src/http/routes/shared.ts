import { ApiError } from "@parley/schema";
import { type CallRow, getCall } from "../../store/calls.ts";
import type { HandlerDeps } from "../endpoint.ts";

/** One answer for what does not exist and for what belongs to another account. */
export function notFound(what: string): ApiError {
  return new ApiError("not_found", `There is no such ${what}.`);
}

export async function callOrNotFound(deps: HandlerDeps, accountId: string, callId: string): Promise<CallRow> {
  const row = await getCall(deps.http.store.db, accountId, callId);
  if (row === null) throw notFound("call");
  return row;
}

/** `-created` is `created`, descending. Undefined: the list's own order. */
export function sortOf<Field extends string>(
  sort: Field | `-${Field}` | undefined,
): { readonly field: Field; readonly descending: boolean } | undefined {
  if (sort === undefined) return undefined;
  const descending = sort.startsWith("-");
  return { field: (descending ? sort.slice(1) : sort) as Field, descending };
}
