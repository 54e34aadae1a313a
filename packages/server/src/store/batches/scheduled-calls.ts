/** The scheduled calls of a batch, in their order. */

import type { ScheduledCallStatus } from "@parley/schema";
import { type RawBuilder, sql } from "kysely";
import { callsWithAgents, toCallRow } from "../calls/call-rows.ts";
import { callColumns } from "../database/call-columns.ts";
import type { CallColumns } from "../database/tables/calls.ts";
import type { CallRow } from "../calls/calls.ts";
import type { Db } from "../database/db.ts";
import { inSlices } from "../../pacing/in-slices.ts";
import { toJsonText } from "../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { documentForAnswer, openDocument, sealDocument } from "../secrets/redaction.ts";
import type { Sealer } from "../database/sealer.ts";
import { selectList, type Selected } from "../database/select-list.ts";

/** As in the request: medium, metadata, templateContext, experimentalSettings. */
export type NewScheduledCall = object;

export interface ScheduledCallRow {
  readonly batchId: string;
  readonly status: ScheduledCallStatus;
  readonly callId: string | null;
  readonly error: string | null;
  /** As in the request, without secrets. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** Rows of one statement: about 3 ms, during which the embedded database runs no other query. */
const ROWS_PER_PORTION = 250;
/** A portion ends earlier when its text is longer than this; one document may have 1 MiB. */
const PORTION_CHARS = 262_144;

/** Portions of rows as JSON texts, for `insertScheduledCalls`. The first call has the position `from`. */
export async function prepareScheduledCalls(
  sealer: Sealer,
  batchId: string,
  calls: readonly NewScheduledCall[],
  from: number,
): Promise<readonly string[]> {
  const portions: string[] = [];
  let rows: string[] = [];
  let chars = 0;
  await inSlices(calls, (call, index) => {
    const position = from + index;
    const { document, sealedSecrets } = sealDocument(sealer, call, callContext(batchId, position));
    const sealed =
      sealedSecrets === null ? "" : `,"sealed_secrets":${toJsonText([sealedSecrets]).slice(1, -1)}`;
    rows.push(`{"position":${position},"document":${document}${sealed}}`);
    chars += document.length;
    if (rows.length < ROWS_PER_PORTION && chars < PORTION_CHARS) return;
    portions.push(`[${rows.join(",")}]`);
    rows = [];
    chars = 0;
  });
  if (rows.length > 0) portions.push(`[${rows.join(",")}]`);
  return portions;
}

/**
 * `portion` comes from `prepareScheduledCalls` of the same batch; `batch` is a statement that returns its `id` while it
 * may be stored. One statement, because in a transaction of several statements the embedded database, and all its other
 * clients, would wait for this process in between. Returns the number of stored calls: all of them, or 0.
 */
export async function insertScheduledCalls(
  db: Db,
  batch: RawBuilder<unknown>,
  portion: string,
): Promise<number> {
  const stored = await sql`
    with batch as (${batch})
    insert into scheduled_calls (batch_id, position, document, sealed_secrets)
    select batch.id, given.position, given.document, given.sealed_secrets
    from batch, json_to_recordset(${portion}::json) as given (position integer, document json, sealed_secrets text)`.execute(
    db.query,
  );
  return Number(stored.numAffectedRows ?? 0n);
}

/** Rows deleted by one statement: about 10 ms. */
const ROWS_ERASED = 1_000;

/** Deletes the first remaining calls of a batch. False: there was none. */
export async function deleteScheduledCalls(tx: Db, batchId: string): Promise<boolean> {
  const deleted = await sql`
    delete from scheduled_calls where batch_id = ${batchId} and position < ${ROWS_ERASED} + (
      select min(position) from scheduled_calls where batch_id = ${batchId})`.execute(tx.query);
  return (deleted.numAffectedRows ?? 0n) > 0n;
}

const scheduledColumns = selectList(
  "scheduled_calls",
  {
    batchId: "batch_id",
    position: "position",
    status: "status",
    document: "document",
    sealedSecrets: "sealed_secrets",
    callId: "call_id",
    error: "error",
  },
  "scheduled",
);

/** The calls of a batch of the account, in their order. */
export async function listScheduledCalls(
  db: Db,
  accountId: string,
  batchId: string,
  filter: { readonly status?: ScheduledCallStatus | undefined },
  page: PageQuery,
): Promise<PageRows<ScheduledCallRow>> {
  const read = await readPage<Selected<typeof scheduledColumns>>(
    db,
    {
      columns: scheduledColumns,
      from: sql`scheduled_calls as scheduled join scheduled_batches as batch on batch.id = scheduled.batch_id`,
      where: [
        sql`batch.account_id = ${accountId}`,
        sql`batch.hidden_until is null`,
        sql`scheduled.batch_id = ${batchId}`,
        ...(filter.status === undefined ? [] : [sql`scheduled.status = ${filter.status}`]),
      ],
      sort: sql`scheduled.position`,
      sortType: "bigint",
      id: sql`scheduled.position`,
      idType: "bigint",
      descending: false,
    },
    page,
  );
  const rows = read.rows.map(({ position, document, sealedSecrets, ...row }) => ({
    ...row,
    document: documentForAnswer(db.sealer, document, sealedSecrets, callContext(batchId, position)),
  }));
  return { ...read, rows };
}

/** Created calls of a batch that were not deleted, newest first. */
export async function listCreatedCalls(
  db: Db,
  accountId: string,
  batchId: string,
  page: PageQuery,
): Promise<PageRows<CallRow>> {
  const read = await readPage<CallColumns>(
    db,
    {
      columns: callColumns,
      from: callsWithAgents,
      where: [
        sql`calls.account_id = ${accountId}`,
        sql`calls.id in (select call_id from scheduled_calls where batch_id = ${batchId} and call_id is not null)`,
      ],
      sort: sql`calls.created_at`,
      sortType: "timestamptz",
      id: sql`calls.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toCallRow(db, columns)) };
}

/** The document as in the request, with its secrets. */
export function openScheduledCall(
  sealer: Sealer,
  batchId: string,
  position: number,
  document: Record<string, unknown>,
  sealedSecrets: string | null,
): Record<string, unknown> {
  return openDocument(sealer, document, sealedSecrets, callContext(batchId, position));
}

function callContext(batchId: string, position: number): string {
  return `scheduled_calls:${batchId}:${position}`;
}
