/** The stages of a call. A call has one from its creation. */

import type { CallTool } from "@parley/schema";
import { sql } from "kysely";
import { insertCallTools } from "./call-tools.ts";
import type { Db } from "../database/db.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";
import { documentForAnswer, sealDocument } from "../secrets/redaction.ts";

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

const stageColumns = selectList("call_stages", {
  stageId: "id",
  callId: "call_id",
  position: "position",
  createdAt: "created_at",
  settings: "settings",
  sealedSecrets: "sealed_secrets",
  initialTokenCount: "initial_token_count",
  latestTokenCount: "latest_token_count",
  errorCount: "error_count",
});

type StageColumns = Selected<typeof stageColumns>;

export interface NewStage {
  readonly stageId: string;
  /** Settings of the CallStage resource, with their secrets, which are sealed here. */
  readonly settings: object;
  readonly tools: readonly CallTool[];
  /** The compiled plan; any JSON. Sealed as a whole. Absent: no other call can take over its tools. */
  readonly plan?: object;
  /** False: it begins with its own messages. */
  readonly inheritsMessages: boolean;
  readonly createdAt: Date;
}

/** Adds a stage after the last one. Idempotent by id. False: there is no such call, or the stage exists already. */
export async function insertStage(
  db: Db,
  accountId: string,
  callId: string,
  stage: NewStage,
): Promise<boolean> {
  const { stageId, plan } = stage;
  const sealedPlan =
    plan === undefined ? null : db.sealer.seal(JSON.stringify(plan), stagePlanContext(stageId));
  const settings = sealDocument(db.sealer, stage.settings, stageContext(stageId));
  const inserted = await sql`
    with stage as (
      insert into call_stages (id, call_id, account_id, position, created_at, settings, sealed_secrets,
        sealed_plan, inherits_messages)
      select ${stageId}::uuid, id, account_id,
        (select coalesce(max(position) + 1, 0) from call_stages where call_id = calls.id),
        ${stage.createdAt}::timestamptz, ${settings.document}::json, ${settings.sealedSecrets},
        ${sealedPlan}, ${stage.inheritsMessages}
      from calls where id = ${callId} and account_id = ${accountId}
      on conflict (id) do nothing returning id, call_id, account_id
    ), listed as (
      ${insertCallTools("stage", stage.tools)}
    )
    select id from stage`.execute(db.query);
  return inserted.rows.length === 1;
}

/** Stores that a stage has had at least `failures` failed tool invocations. False: the account has no such stage. */
export async function saveToolErrors(
  db: Db,
  accountId: string,
  callId: string,
  stageId: string,
  failures: number,
): Promise<boolean> {
  const counted = await sql`
    update call_stages set error_count = greatest(error_count, ${failures}::int)
    where id = ${stageId} and call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return counted.numAffectedRows === 1n;
}

/** Input tokens of requests to the model, as the model server reported them. */
export interface StageTokens {
  readonly stageId: string;
  readonly initial: number;
  readonly latest: number;
}

/** False: the account has no such stage. */
export async function saveTokenCounts(
  db: Db,
  accountId: string,
  callId: string,
  { stageId, initial, latest }: StageTokens,
): Promise<boolean> {
  const saved = await sql`
    update call_stages set initial_token_count = ${initial}::int, latest_token_count = ${latest}::int
    where id = ${stageId} and call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return saved.numAffectedRows === 1n;
}

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

/** Binds the sealed plan of a stage to its row. */
export function stagePlanContext(stageId: string): string {
  return `call_stages:plan:${stageId}`;
}

/** The first stage of a call; null: the account has no such call. */
export async function firstStageOf(db: Db, accountId: string, callId: string): Promise<string | null> {
  const read = await sql<Pick<StageColumns, "stageId">>`
    select stages.id as "stageId" from call_stages as stages join calls on calls.id = stages.call_id
    where stages.call_id = ${callId} and calls.account_id = ${accountId} order by stages.position limit 1`.execute(
    db.query,
  );
  return read.rows[0]?.stageId ?? null;
}
