/** Routes of deleted calls. */

import { z } from "zod";
import { DeletedCall, ListDeletedCallsQuery } from "./deleted-call.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { json, plain, type Route } from "../routes/route.ts";

export const DeletedCallPage = pageOf(DeletedCall);

export const deletedCallRoutes = {
  listDeletedCalls: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/deleted_calls",
    tag: "calls",
    summary: "List deleted calls; filters on deleted content match nothing",
    query: ListDeletedCallsQuery,
    responses: { 200: json(DeletedCallPage, "A page of deleted calls, newest call first.") },
  },
  getDeletedCall: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/deleted_calls/{call_id}",
    tag: "calls",
    summary: "Get a deleted call",
    params: z.strictObject({ call_id: Uuid }),
    responses: { 200: json(DeletedCall, "What remains of the call.") },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
