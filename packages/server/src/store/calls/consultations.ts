/** Conversations with people who are to take over a caller: calls of their own, whose instructions quote the caller's. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { bodyContext } from "../webhooks/webhook-queue.ts";
import { planContext } from "./call-rows.ts";
import { stagePlanContext } from "./stages.ts";

const NO_PROMPT = toJsonText({ systemPrompt: null });

/**
 * For the deletion of the caller's call: erases the instructions of the conversations about it, wherever they are stored.
 * What was said in them stays, as that of other calls does.
 */
export async function eraseConsultationsOf(tx: Db, accountId: string, callId: string): Promise<void> {
  const found = await sql<{ readonly id: string; readonly plan: string }>`
    update calls set settings = (settings::jsonb || ${NO_PROMPT}::jsonb)::json
    where consultation_of = ${callId} and account_id = ${accountId}
    returning id, sealed_plan as plan`.execute(tx.query);
  for (const { id, plan } of found.rows) {
    const context = planContext(id);
    await sql`update calls set sealed_plan = ${withoutPrompt(tx, plan, context)} where id = ${id}`.execute(
      tx.query,
    );
    await eraseStages(tx, id);
    // Of a conversation that failed; it begins with the plan.
    await sql`delete from call_event_logs where call_id = ${id}`.execute(tx.query);
    await eraseDeliveries(tx, id);
  }
}

/** Those that are still to be sent go without the instructions. */
async function eraseDeliveries(tx: Db, consultationId: string): Promise<void> {
  await sql`
    update webhook_deliveries set sealed_body = null, call_record = null
    where call_id = ${consultationId} and status <> 'pending'`.execute(tx.query);
  const pending = await sql<{ readonly id: string; readonly body: string | null }>`
    update webhook_deliveries
    set call_record = jsonb_set(call_record::jsonb, '{settings}', call_record::jsonb -> 'settings' || ${NO_PROMPT}::jsonb)::json
    where call_id = ${consultationId} and status = 'pending'
    returning id, sealed_body as body`.execute(tx.query);
  for (const { id, body } of pending.rows) {
    if (body === null) continue;
    const erased = withoutPrompt(tx, body, bodyContext(id));
    await sql`update webhook_deliveries set sealed_body = ${erased} where id = ${id}`.execute(tx.query);
  }
}

async function eraseStages(tx: Db, consultationId: string): Promise<void> {
  const stages = await sql<{ readonly id: string; readonly plan: string | null }>`
    update call_stages set settings = (settings::jsonb || ${NO_PROMPT}::jsonb)::json
    where call_id = ${consultationId} returning id, sealed_plan as plan`.execute(tx.query);
  for (const { id, plan } of stages.rows) {
    if (plan === null) continue;
    const erased = withoutPrompt(tx, plan, stagePlanContext(id));
    await sql`update call_stages set sealed_plan = ${erased} where id = ${id}`.execute(tx.query);
  }
}

function withoutPrompt({ sealer }: Db, sealed: string, context: string): string {
  const plan = JSON.parse(sealer.open(sealed, context), (key, value: unknown) =>
    key === "systemPrompt" && typeof value === "string" ? "" : value,
  ) as unknown;
  return sealer.seal(JSON.stringify(plan), context);
}
