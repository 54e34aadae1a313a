import { type auditRoutes, toNeutralName, toVendorName } from "@parley/schema";
import { type AuditEntryRow, listAuditEntries } from "../../store/accounts/audit-log.ts";
import type { Handler, HandlersOf } from "../api/endpoint.ts";
import { pageAnswer } from "../api/paging.ts";
import type { Resource } from "../../lifecycle/resource.ts";

const listAuditLogRoute: Handler<"listAuditLog"> = async ({ accountId, query, list }, { http }) => {
  const { operation, keyPrefix, targetId, result, fromDate, toDate } = query;
  const filter = {
    operation,
    keyPrefix,
    // Carriers are targets by their names.
    targetId: targetId === undefined ? undefined : toNeutralName(targetId),
    result,
    fromDate,
    toDate,
  };
  const spell = http.settings.apiNames === "vendor" ? toVendorName : (name: string) => name;
  const page = await pageAnswer(
    list,
    (wanted) => listAuditEntries(http.store.db, accountId, filter, wanted),
    (row) => auditEntryResource(row, spell),
  );
  return { status: 200, json: page };
};

function auditEntryResource(row: AuditEntryRow, spell: (name: string) => string): Resource {
  return {
    entryId: row.entryId,
    created: row.createdAt,
    operation: row.operation,
    via: row.via,
    keyPrefix: row.keyPrefix,
    keyName: row.keyName,
    targetId: row.targetId === null ? null : spell(row.targetId),
    targetName: row.targetName,
    clientAddress: row.clientAddress,
    result: row.refusal === null ? "done" : "refused",
    code: row.refusal,
    requestId: row.requestId,
  };
}

export const auditHandlers: HandlersOf<typeof auditRoutes> = { listAuditLog: listAuditLogRoute };
