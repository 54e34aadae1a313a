/** Writing new calls within the limits of their account and throttle, and what is answered where one is reached. */

import { ApiError, validationError, type ThrottleRule } from "@parley/schema";
import type { Config } from "./config.ts";
import type { CreateCallDeps } from "./runner/create-call.ts";
import { insertAdmittedCall } from "./store/admission.ts";
import { intendCall } from "./store/batch-claims.ts";
import { inTransaction, type Db } from "./store/db.ts";
import {
  AgentGoneError,
  CallNotAdmittedError,
  ClaimLostError,
  ThrottleGoneError,
} from "./store/store-errors.ts";

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
        // One transaction: either there is the call and its batch knows it, or neither.
        await inTransaction(db, async (tx) => {
          await insertAdmittedCall(tx, accountId, call, admission);
          await intendCall(tx, scheduled, call.callId);
        });
      }
      return "inserted";
    } catch (error) {
      if (error instanceof AgentGoneError) return "agent_gone";
      if (error instanceof ClaimLostError) return new ApiError("conflict", error.message, { cause: error });
      if (error instanceof ThrottleGoneError) return unknownThrottle(error);
      if (error instanceof CallNotAdmittedError) return notAdmitted(error);
      throw error;
    }
  };
}

function unknownThrottle(cause: ThrottleGoneError): ApiError {
  const { code, detail, errors } = validationError([
    { field: "throttle", message: "is not a known throttle" },
  ]);
  return new ApiError(code, detail, { errors, cause });
}

const REASONS = {
  "calls at a time": "The account has as many calls at a time as it may have",
  "account rate": "The account has reached its rate of new calls",
  throttle: "The call throttle allows no more calls for now",
} as const;

/** @returns 429 with the seconds until it is worth trying again */
export function notAdmitted(error: CallNotAdmittedError): ApiError {
  if (error.limit === "account removed") {
    return new ApiError("forbidden", "The account is being removed.", { cause: error });
  }
  const seconds = Math.max(1, Math.ceil(error.waitMs / 1000));
  return new ApiError("rate_limited", `${REASONS[error.limit]}; try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
    cause: error,
  });
}
