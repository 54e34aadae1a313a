/** Routes of the audit log. */

import { z } from "zod";
import { json, plain, type Route } from "../routes/route.ts";
import { moment } from "../values/moments.ts";
import { pageOf, pageQuery } from "../values/page.ts";
import { AuditEntry, AuditResult } from "./audit-entry.ts";

export const AuditEntryPage = pageOf(AuditEntry);

export const ListAuditLogQuery = z.strictObject({
  ...pageQuery,
  operation: z.string().min(1).max(100).optional().describe("Exactly this operation, such as `deleteAgent`."),
  keyPrefix: z
    .string()
    .regex(/^[a-zA-Z0-9]{8}$/, { error: "must be the first eight characters of an API key" })
    .optional(),
  targetId: z.string().min(1).max(256).optional().describe("Exactly this target."),
  result: AuditResult.optional(),
  fromDate: moment("first").optional().describe("Time of the change, inclusive."),
  toDate: moment("last").optional(),
});
export type ListAuditLogQuery = z.output<typeof ListAuditLogQuery>;

export const auditRoutes = {
  listAuditLog: {
    ...plain,
    method: "GET",
    scope: "admin",
    path: "/api/audit_log",
    tag: "account",
    summary: "List the administrative changes of the account",
    query: ListAuditLogQuery,
    responses: { 200: json(AuditEntryPage, "A page of the audit log, newest first.") },
  },
} as const satisfies Record<string, Route>;
