/** The stages of a call. A call has one from its creation. */

import { sql } from "kysely";
import type { Db } from "./db.ts";
import { readPage, type PageQuery, type PageRows } from "./page.ts";
import { documentForAnswer } from "./redaction.ts";

export interface StageRow {
  readonly stageId: string;
  readonly callId: string;
  /** From 0. */
  readonly position: number;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  /** Settings as the CallStage resource shows them, secrets masked or left out. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly initialTokenCount: number | null;
  readonly latestTokenCount: number | null;
  /** Failed tool invocations. */
  readonly errorCount: number;
}

interface StageColumns extends Omit<StageRow, "settings"> {
  readonly settings: Record<string, unknown>;
  readonly sealedSecrets: string | null;
}

const stageColumns = sql`id as "stageId", call_id as "callId", position, created_at as "createdAt", settings,
  sealed_secrets as "sealedSecrets", initial_token_count as "initialTokenCount",
  latest_token_count as "latestTokenCount", error_count as "errorCount"`;

export async function getStage(
  db: Db,
  accountId: string,
  callId: string,
  stageId: string,
): Promise<StageRow | null> {
  const read = await sql<StageColumns>`
    select ${stageColumns} from call_stages
    where id = ${stageId} and call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  const columns = read.rows[0];
  return columns === undefined ? null : toStageRow(db, columns);
}

/** Oldest first. A call of another account has no rows. */
export async function listStages(
  db: Db,
  accountId: string,
  callId: string,
  page: PageQuery,
): Promise<PageRows<StageRow>> {
  const read = await readPage<StageColumns>(
    db,
    {
      columns: stageColumns,
      from: sql`call_stages`,
      where: [sql`call_id = ${callId}`, sql`account_id = ${accountId}`],
      sort: sql`position`,
      sortType: "bigint",
      id: sql`id`,
      idType: "uuid",
      descending: false,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toStageRow(db, columns)) };
}

function toStageRow(db: Db, columns: StageColumns): StageRow {
  return {
    stageId: columns.stageId,
    callId: columns.callId,
    position: columns.position,
    createdAt: columns.createdAt,
    settings: documentForAnswer(
      db.sealer,
      columns.settings,
      columns.sealedSecrets,
      stageContext(columns.stageId),
    ),
    initialTokenCount: columns.initialTokenCount,
    latestTokenCount: columns.latestTokenCount,
    errorCount: columns.errorCount,
  };
}

/** Binds the sealed secrets of a stage to their row. */
export function stageContext(stageId: string): string {
  return `call_stages:${stageId}`;
}
