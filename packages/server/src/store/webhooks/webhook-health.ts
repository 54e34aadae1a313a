/** The health of webhooks, derived from the outcomes of attempts (D160, D161). */

import { sql } from "kysely";
import type { WebhookStatus } from "@parley/schema";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import type { WebhookFailure } from "../database/tables/webhooks.ts";
import { toJsonText } from "../database/json-text.ts";
import type { AttemptOutcome } from "./webhook-queue.ts";

/** Failed attempts in a row, of any delivery, after which a webhook is unhealthy. */
export const UNHEALTHY_AFTER = 5;
/** Failed attempts that a webhook shows. */
export const SHOWN_FAILURES = 10;

export interface WebhookHealth {
  readonly status: WebhookStatus;
  readonly failuresInRow: number;
  /** Newest first. */
  readonly recentFailures: readonly WebhookFailure[];
  /** Whether the status has changed since it was read. */
  readonly changed: boolean;
}

export function healthAfter(
  health: WebhookHealth,
  { attempt, isGone }: Pick<AttemptOutcome, "attempt" | "isGone">,
): WebhookHealth {
  const { failure } = attempt;
  const failuresInRow = failure === null ? 0 : health.failuresInRow + 1;
  const recentFailures =
    failure === null
      ? health.recentFailures
      : [{ timestamp: attempt.at, failure }, ...health.recentFailures].slice(0, SHOWN_FAILURES);
  const isUnhealthy = isGone || failuresInRow >= UNHEALTHY_AFTER;
  const status = failure === null ? "normal" : isUnhealthy ? "unhealthy" : health.status;
  return { status, failuresInRow, recentFailures, changed: health.changed || status !== health.status };
}

export type HealthColumns = Pick<Row<"webhooks">, "id" | "status" | "failures_in_row" | "recent_failures">;

/** Locks only webhooks whose health may change. Most are healthy and stay so. */
export async function lockHealth(
  tx: Db,
  outcomes: readonly AttemptOutcome[],
): Promise<readonly HealthColumns[]> {
  const ids = idsOf(outcomes);
  if (ids.length === 0) return [];
  const failed = idsOf(outcomes.filter(({ attempt }) => attempt.failure !== null));
  const read = await sql<HealthColumns>`
    select id, status, failures_in_row, recent_failures from webhooks
    where id = any(${failed}::uuid[]) or (id = any(${ids}::uuid[]) and (failures_in_row > 0 or status <> 'normal'))
    order by id for no key update`.execute(tx.query);
  return read.rows;
}

/** `outcomes`: only those whose claims were still held; others do not count. */
export async function noteHealth(
  tx: Db,
  locked: readonly HealthColumns[],
  outcomes: readonly AttemptOutcome[],
): Promise<void> {
  const attempted = new Set(idsOf(outcomes));
  const changing = locked.filter(({ id }) => attempted.has(id));
  if (changing.length === 0) return;
  const rows = changing.map((row) => {
    const before: WebhookHealth = {
      status: row.status,
      failuresInRow: row.failures_in_row,
      recentFailures: row.recent_failures,
      changed: false,
    };
    const own = outcomes.filter(({ webhookId }) => webhookId === row.id);
    const { failuresInRow, recentFailures, status, changed } = own.reduce(healthAfter, before);
    return {
      id: row.id,
      status,
      failures_in_row: failuresInRow,
      recent_failures: recentFailures,
      changed,
    };
  });
  await sql`
    update webhooks set status = after.status, failures_in_row = after.failures_in_row,
      recent_failures = after.recent_failures,
      last_status_change_at = case when after.changed then now() else last_status_change_at end
    from json_to_recordset(${toJsonText(rows)}::json)
      as after (id uuid, status text, failures_in_row int, recent_failures json, changed boolean)
    where webhooks.id = after.id`.execute(tx.query);
}

function idsOf(outcomes: readonly AttemptOutcome[]): string[] {
  return [...new Set(outcomes.flatMap(({ webhookId }) => webhookId ?? []))];
}
