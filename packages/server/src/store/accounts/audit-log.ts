/** The audit log: administrative changes of an account. An entry is written in the transaction of its change. */

import { randomUUID } from "node:crypto";
import type { AuditResult, AuditVia, ErrorCode } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { databaseTime, daysBefore } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface NewAuditEntry {
  /** The id of the operation in the API, such as `createAgent`, or the name of a command. */
  readonly operation: string;
  readonly via: AuditVia;
  /** Null: not by an API key. */
  readonly key: { readonly prefix: string; readonly name: string } | null;
  /** Null: the operation concerns the account as a whole. */
  readonly target: AuditTarget | null;
  readonly clientAddress: string | null;
  /** The code of the problem; null: the change was made. */
  readonly refusal: ErrorCode | null;
  readonly requestId: string | null;
}

export interface AuditTarget {
  readonly id: string;
  readonly name: string | null;
}

const entryColumns = selectList("audit_entries", {
  entryId: "id",
  createdAt: "created_at",
  operation: "operation",
  via: "via",
  keyPrefix: "key_prefix",
  keyName: "key_name",
  targetId: "target_id",
  targetName: "target_name",
  clientAddress: "client_address",
  refusal: "refusal",
  requestId: "request_id",
});

export type AuditEntryRow = Selected<typeof entryColumns>;

/** Longest stored target and request id: path parameters have at most 256 characters, names fewer. */
const MAX_TEXT_LENGTH = 256;

export async function addAuditEntry(db: Db, accountId: string, entry: NewAuditEntry): Promise<void> {
  const { operation, via, key, target, clientAddress, refusal, requestId } = entry;
  await sql`
    insert into audit_entries (id, account_id, created_at, operation, via, key_prefix, key_name, target_id, target_name,
      client_address, refusal, request_id)
    values (${randomUUID()}, ${accountId}, ${databaseTime}, ${operation}, ${via}, ${key?.prefix ?? null},
      ${key?.name ?? null}, ${shortened(target?.id)}, ${shortened(target?.name)}, ${clientAddress}, ${refusal},
      ${shortened(requestId)})`.execute(db.query);
}

function shortened(text: string | null | undefined): string | null {
  return text === null || text === undefined ? null : toStorableText(text.slice(0, MAX_TEXT_LENGTH));
}

/** Records what a command or the start of the service has changed. Call it in the transaction of the change. */
export async function recordOperatorChange(
  tx: Db,
  accountId: string,
  change: {
    readonly operation: string;
    readonly via: "command_line" | "start";
    readonly target: AuditTarget | null;
  },
): Promise<void> {
  const nobody = { key: null, clientAddress: null, refusal: null, requestId: null };
  await addAuditEntry(tx, accountId, { ...change, ...nobody });
}

/** Where the name of a target is stored, by the path parameter that has its id. */
const NAMED: Readonly<
  Record<string, { readonly table: string; readonly id: string; readonly name: string }>
> = {
  agent_id: { table: "agents", id: "id", name: "name" },
  tool_id: { table: "tools", id: "id", name: "name" },
  voice_id: { table: "voices", id: "id", name: "name" },
  corpus_id: { table: "corpora", id: "id", name: "name" },
  source_id: { table: "corpus_sources", id: "id", name: "name" },
  throttle_id: { table: "call_throttles", id: "id", name: "name" },
  api_key_prefix: { table: "api_keys", id: "prefix", name: "name" },
  registration_id: { table: "sip_registrations", id: "id", name: "username" },
  webhook_id: { table: "webhooks", id: "id", name: "url" },
};

/** The target of a change to a record, with its name before the change; null as name: it has none, or does not exist. */
export async function readAuditTarget(
  db: Db,
  accountId: string,
  parameter: string,
  id: string,
): Promise<AuditTarget> {
  const named = NAMED[parameter];
  if (named === undefined) return { id, name: null };
  const read = await sql<{ name: string | null }>`
    select ${sql.ref(named.name)} as name from ${sql.table(named.table)}
    where ${sql.ref(named.id)} = ${id} and account_id = ${accountId}`.execute(db.query);
  const name = read.rows[0]?.name ?? null;
  return { id, name: parameter === "webhook_id" ? hostOf(name) : name };
}

/** The name of a record that was created, as `readAuditTarget` reads it; null: it has none. */
export function auditNameOf(record: unknown): string | null {
  const { name, username, url } = (record ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof name === "string") return name;
  return typeof username === "string" ? username : hostOf(url);
}

/** Of a webhook: its path and query may contain a secret. */
function hostOf(url: unknown): string | null {
  return typeof url === "string" && URL.canParse(url) ? new URL(url).host : null;
}

/** All given members must match. Dates are ISO 8601 and inclusive. */
export interface AuditFilter {
  readonly operation?: string | undefined;
  readonly keyPrefix?: string | undefined;
  readonly targetId?: string | undefined;
  readonly result?: AuditResult | undefined;
  readonly fromDate?: string | undefined;
  readonly toDate?: string | undefined;
}

function conditions(accountId: string, filter: AuditFilter): RawBuilder<unknown>[] {
  const { operation, keyPrefix, targetId, result, fromDate, toDate } = filter;
  const found = [sql`account_id = ${accountId}`];
  if (operation !== undefined) found.push(sql`operation = ${toStorableText(operation)}`);
  if (keyPrefix !== undefined) found.push(sql`key_prefix = ${keyPrefix}`);
  if (targetId !== undefined) found.push(sql`target_id = ${toStorableText(targetId)}`);
  if (result !== undefined) found.push(result === "done" ? sql`refusal is null` : sql`refusal is not null`);
  if (fromDate !== undefined) found.push(sql`created_at >= ${fromDate}::timestamptz`);
  if (toDate !== undefined) found.push(sql`created_at <= ${toDate}::timestamptz`);
  return found;
}

/** Newest first. */
export async function listAuditEntries(
  db: Db,
  accountId: string,
  filter: AuditFilter,
  page: PageQuery,
): Promise<PageRows<AuditEntryRow>> {
  return readPage<AuditEntryRow>(
    db,
    {
      columns: entryColumns,
      from: sql`audit_entries`,
      where: conditions(accountId, filter),
      ...newestFirst,
    },
    page,
  );
}

/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** Deletes a portion of the entries that are older, by the clock of the database. True: there may be more. */
export async function sweepAuditLog(db: Db, retentionDays: number): Promise<boolean> {
  const swept = await sql`
    delete from audit_entries where id in (
      select id from audit_entries where created_at < ${daysBefore(databaseTime, retentionDays)}
      limit ${SWEEP_PORTION} for update skip locked)
    returning id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}
