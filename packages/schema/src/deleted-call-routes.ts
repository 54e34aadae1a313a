/** What remains of deleted calls. */

import { z } from "zod";
import { DeletedCall, ListDeletedCallsQuery } from "./deleted-call.ts";
import { Uuid } from "./fields.ts";
import { pageOf } from "./page.ts";
import { json, plain, type Route } from "./route.ts";

export const DeletedCallPage = pageOf(DeletedCall);

export const deletedCallRoutes = {
  listDeletedCalls: {
    ...plain,
    method: "GET",
    path: "/api/deleted_calls",
    tag: "calls",
    summary: "List deleted calls; filters by what was erased match none",
    query: ListDeletedCallsQuery,
    responses: { 200: json(DeletedCallPage, "A page of what remains of deleted calls, newest call first.") },
  },
  getDeletedCall: {
    ...plain,
    method: "GET",
    path: "/api/deleted_calls/{call_id}",
    tag: "calls",
    summary: "Read what remains of a deleted call",
    params: z.strictObject({ call_id: Uuid }),
    responses: { 200: json(DeletedCall, "What remains.") },
    errors: ["not_found"],
  },
} as const satisfies Record<string, Route>;
