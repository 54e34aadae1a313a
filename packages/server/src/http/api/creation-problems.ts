/** The answer for each outcome of call creation that leaves no call. */

import { ApiError, validationError } from "@parley/schema";
import type { NotCreated, PassingLimit } from "../../lifecycle/api.ts";

type Kind = NotCreated["kind"];
type Problems = { readonly [K in Kind]: (outcome: Extract<NotCreated, { readonly kind: K }>) => ApiError };

const LIMITS: Readonly<Record<PassingLimit, string>> = {
  "calls at a time": "The account has reached its limit of concurrent calls",
  "account rate": "The account has reached its rate of new calls",
  throttle: "The call throttle allows no more calls for now",
  "dialled calls": "The account has reached its limit of dialled calls within 24 hours",
  "dialled minutes": "The account has reached its limit of minutes of dialled calls within 24 hours",
};

const PROBLEMS: Problems = {
  refused: ({ errors }) => validationError(errors),
  not_found: ({ reason }) => new ApiError("not_found", reason),
  prior_call_running: ({ reason }) => new ApiError("wrong_state", reason),
  not_available: ({ reason }) => new ApiError("not_available", reason),
  account_removed: ({ reason }) => new ApiError("forbidden", reason),
  not_enabled: ({ reason }) => new ApiError("forbidden", reason),
  later: ({ limit, waitMs }) => {
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000));
    const detail = `${LIMITS[limit]}; try again in ${retryAfterSeconds} s.`;
    return new ApiError("rate_limited", detail, { retryAfterSeconds });
  },
  not_configured: ({ errors }) => validationError(errors),
  carrier_failed: ({ reason, waitMs }) =>
    new ApiError("no_capacity", `${reason}. Nobody was called.`, {
      retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
    }),
  full: ({ reason, waitMs }) =>
    new ApiError("no_capacity", reason, { retryAfterSeconds: Math.ceil(waitMs / 1000) }),
  exists: ({ reason }) => new ApiError("conflict", reason),
  lost: ({ reason }) => new ApiError("conflict", reason),
};

export function creationProblem(outcome: NotCreated): ApiError {
  const problem = PROBLEMS[outcome.kind] as (of: NotCreated) => ApiError;
  return problem(outcome);
}
