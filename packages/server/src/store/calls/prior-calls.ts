/** Data of a call for another call that continues it. */

import { sql } from "kysely";
import { callContext, planContext } from "./call-rows.ts";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { newestMessages, type MessageRow } from "./messages.ts";
import { openDocument } from "../secrets/redaction.ts";
import { stageContext, stagePlanContext } from "./stages.ts";

export interface PriorCallRow {
  readonly hasEnded: boolean;
  /** Settings of the Call resource with their secrets, as they were given to `insertCall`. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Any JSON, as it was given to `insertCall`. */
  readonly plan: unknown;
  readonly lastStage: {
    readonly settings: Readonly<Record<string, unknown>>;
    /** As it was given to `insertStage`; null for the first stage, whose plan is part of the call's. */
    readonly plan: unknown;
  };
  /** The newest messages of the last stage with its history, oldest first. */
  readonly messages: readonly MessageRow[];
}

type CallPart = Pick<Row<"calls">, "settings" | "sealed_secrets" | "metadata" | "sealed_plan">;
type Stage = Row<"call_stages">;

interface PriorColumns extends CallPart {
  readonly ended: boolean;
  readonly stage_id: Stage["id"];
  readonly stage_settings: Stage["settings"];
  readonly stage_secrets: Stage["sealed_secrets"];
  readonly stage_plan: Stage["sealed_plan"];
}

/** Null: the account has no such call. */
export async function getPriorCall(
  db: Db,
  accountId: string,
  callId: string,
  messageLimit: number,
): Promise<PriorCallRow | null> {
  const read = await sql<PriorColumns>`
    select ended_at is not null as ended, calls.settings, calls.sealed_secrets, metadata, calls.sealed_plan,
      stage.id as stage_id, stage.settings as stage_settings, stage.sealed_secrets as stage_secrets,
      stage.sealed_plan as stage_plan
    from calls join call_stages as stage on stage.call_id = calls.id
    where calls.id = ${callId} and calls.account_id = ${accountId}
    order by stage.position desc limit 1`.execute(db.query);
  const columns = read.rows[0];
  if (columns === undefined) return null;
  const { sealer } = db;
  const { stage_id: stageId, stage_plan: stagePlan } = columns;
  return {
    hasEnded: columns.ended,
    settings: openDocument(sealer, columns.settings, columns.sealed_secrets, callContext(callId)),
    metadata: columns.metadata,
    plan: JSON.parse(sealer.open(columns.sealed_plan, planContext(callId))),
    lastStage: {
      settings: openDocument(sealer, columns.stage_settings, columns.stage_secrets, stageContext(stageId)),
      plan: stagePlan === null ? null : JSON.parse(sealer.open(stagePlan, stagePlanContext(stageId))),
    },
    messages: await newestMessages(db, accountId, callId, messageLimit),
  };
}
