/** Writes new calls within the limits of their account and throttle, and turns the store's refusals into outcomes. */

import type { ThrottleRule } from "@parley/schema";
import type { Config } from "../../config/config.ts";
import type { NotCreated } from "../api.ts";
import type { CreateCallDeps } from "./create-call.ts";
import { AGENT_NOT_FOUND } from "./requested-call.ts";
import { UNKNOWN_THROTTLE } from "./requested-throttle.ts";
import { insertAdmittedCall } from "../../store/accounts/admission.ts";
import { intendCall } from "../../store/batches/batch-claims.ts";
import { inTransaction, type Db } from "../../store/database/db.ts";
import {
  AgentGoneError,
  CallExistsError,
  CallNotAdmittedError,
  ClaimLostError,
  ThrottleGoneError,
} from "../../store/database/store-errors.ts";

type Rates = Pick<Config, "callsPerSecondPerAccount" | "callsPerMinutePerAccount">;

/** The rates that the deployment gives every account, as sliding windows. */
export function accountRates({ callsPerSecondPerAccount, callsPerMinutePerAccount }: Rates): ThrottleRule[] {
  return [
    { maxCalls: callsPerSecondPerAccount, windowSeconds: 1 },
    { maxCalls: callsPerMinutePerAccount, windowSeconds: 60 },
  ].flatMap(({ maxCalls, windowSeconds }) => (maxCalls === null ? [] : [{ maxCalls, windowSeconds }]));
}

export function callInsertion(db: Db, config: Rates): CreateCallDeps["insertCall"] {
  const rates = accountRates(config);
  return async (accountId, call, throttleId, scheduled) => {
    const admission = { throttleId, accountRates: rates };
    try {
      if (scheduled === null) await insertAdmittedCall(db, accountId, call, admission);
      else {
        // One transaction: either the call exists and its batch knows it, or neither.
        await inTransaction(db, async (tx) => {
          await insertAdmittedCall(tx, accountId, call, admission);
          await intendCall(tx, scheduled, call.callId);
        });
      }
      return "inserted";
    } catch (error) {
      const outcome = outcomeOf(error);
      if (outcome === null) throw error;
      return outcome;
    }
  };
}

/** Null for a fault of the database. */
export function outcomeOf(error: unknown): NotCreated | null {
  if (error instanceof AgentGoneError) return AGENT_NOT_FOUND;
  if (error instanceof CallExistsError) return { kind: "exists", reason: error.message };
  if (error instanceof ClaimLostError) return { kind: "lost", reason: error.message };
  if (error instanceof ThrottleGoneError) return { kind: "refused", errors: [UNKNOWN_THROTTLE] };
  if (!(error instanceof CallNotAdmittedError)) return null;
  const { limit, waitMs } = error;
  if (limit === "account removed")
    return { kind: "account_removed", reason: "The account is being removed." };
  return { kind: "later", limit, waitMs: Math.max(1, waitMs) };
}
