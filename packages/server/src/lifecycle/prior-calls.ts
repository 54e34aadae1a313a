/** Reads what a new call needs of the prior call that it continues. */

import { MAX_INITIAL_MESSAGES, MESSAGE_ROLE_OF } from "@parley/schema";
import type { InitialMessage } from "@parley/schema";
import type { CallSettings, StageSettings } from "../plan/call-settings.ts";
import type { PriorCall } from "../plan/prior-call.ts";
import { parsePlan, parseStagePlan, UnreadablePlan } from "../plan/stored-plan.ts";
import type { Db } from "../store/database/db.ts";
import type { MessageRow } from "../store/calls/messages.ts";
import { getPriorCall, type PriorCallRow } from "../store/calls/prior-calls.ts";

export async function loadPriorCall(
  db: Db,
  accountId: string,
  callId: string,
): Promise<PriorCall | "running" | null> {
  const row = await getPriorCall(db, accountId, callId, MAX_INITIAL_MESSAGES);
  if (row === null) return null;
  return row.hasEnded ? priorOf(row) : "running";
}

/** The settings of a call that may be running, without its messages. */
export async function loadConsultedCall(
  db: Db,
  accountId: string,
  callId: string,
): Promise<PriorCall | null> {
  const row = await getPriorCall(db, accountId, callId, 0);
  return row === null ? null : priorOf(row);
}

function priorOf(row: PriorCallRow): PriorCall {
  return {
    // The store returns what call creation stored.
    settings: row.settings as unknown as CallSettings,
    metadata: row.metadata,
    stageSettings: row.lastStage.settings as unknown as StageSettings,
    plans: plansOf(row),
    messages: row.messages.map(messageOf),
  };
}

function plansOf({ plan, lastStage }: PriorCallRow): PriorCall["plans"] {
  try {
    const { templateContext, stage } = parsePlan(plan);
    const last = lastStage.plan === null ? stage : parseStagePlan(lastStage.plan);
    return { templateContext, firstStage: stage, lastStage: last };
  } catch (error) {
    if (error instanceof UnreadablePlan) return null;
    throw error;
  }
}

function messageOf(row: MessageRow): InitialMessage {
  const { invocationId, toolName, errorDetails, callState } = row;
  return {
    role: MESSAGE_ROLE_OF[row.role],
    text: row.text,
    medium: row.medium === "text" ? "MESSAGE_MEDIUM_TEXT" : "MESSAGE_MEDIUM_VOICE",
    metadata: { ...row.metadata },
    ...(invocationId === null ? {} : { invocationId }),
    ...(toolName === null ? {} : { toolName }),
    ...(errorDetails === null ? {} : { errorDetails }),
    ...(callState === null ? {} : { callState }),
  };
}
