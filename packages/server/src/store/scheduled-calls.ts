/** Calls that are yet to be created, each in its place of a batch. */

import type { ScheduledCallStatus } from "@parley/schema";
import { type RawBuilder, sql } from "kysely";
import { callColumns, callsWithAgents, toCallRow, type CallColumns } from "./call-rows.ts";
import type { CallRow } from "./calls.ts";
import type { Db } from "./db.ts";
import { inSlices } from "./in-slices.ts";
import { toJsonText } from "./json-text.ts";
import { readPage, type PageQuery, type PageRows } from "./page.ts";
import { documentForAnswer, openDocument, sealDocument } from "./redaction.ts";
import type { Sealer } from "./secrets.ts";

/** As it was given: medium, metadata, templateContext, experimentalSettings. */
export type NewScheduledCall = object;

export interface ScheduledCallRow {
  readonly batchId: string;
  readonly status: ScheduledCallStatus;
  readonly callId: string | null;
  readonly error: string | null;
  /** What was given, without secrets. */
  readonly document: Readonly<Record<string, unknown>>;
}

/** Rows of one statement: it takes some 3 ms, for which everybody else waits on the embedded database. */
const ROWS_PER_PORTION = 250;
/** A portion ends earlier when its text gets longer than this; one document may have 1 MiB. */
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
 * `portion` comes from `prepareScheduledCalls` of the same batch; `batch` is a statement that gives its `id` as long as it may
 * be stored. One statement, because in a transaction of several the embedded database would wait for this process
 * between them, and everybody else with it. Gives how many calls were stored: all of them, or none.
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

/** Rows erased by one statement: some 10 ms. */
const ROWS_ERASED = 1_000;

/** Erases the first ones that are left of a batch. False: there was none. */
export async function deleteScheduledCalls(tx: Db, batchId: string): Promise<boolean> {
  const deleted = await sql`
    delete from scheduled_calls where batch_id = ${batchId} and position < ${ROWS_ERASED} + (
      select min(position) from scheduled_calls where batch_id = ${batchId})`.execute(tx.query);
  return (deleted.numAffectedRows ?? 0n) > 0n;
}

interface ScheduledCallColumns extends ScheduledCallRow {
  readonly position: number;
  readonly document: Record<string, unknown>;
  readonly sealedSecrets: string | null;
}

/** Those of a batch that the account has been found to own, in the order given. */
export async function listScheduledCalls(
  db: Db,
  accountId: string,
  batchId: string,
  filter: { readonly status?: ScheduledCallStatus | undefined },
  page: PageQuery,
): Promise<PageRows<ScheduledCallRow>> {
  const read = await readPage<ScheduledCallColumns>(
    db,
    {
      columns: sql`scheduled.batch_id as "batchId", scheduled.position, scheduled.status, scheduled.document,
        scheduled.sealed_secrets as "sealedSecrets", scheduled.call_id as "callId", scheduled.error`,
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

/** Calls that a batch has created and that were not deleted since, newest first. */
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

/** As it was given, with its secrets. */
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
