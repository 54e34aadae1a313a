/**
 * The operator of the deployment: who has its operator key. The first account is the operator's own, so its keys may
 * also see the deployment; only the operator key may change it.
 */

import { ApiError } from "@parley/schema";
import { isDefaultAccount } from "../../store/accounts/accounts.ts";
import type { Db } from "../../store/database/db.ts";
import { hashToken, isHashOf } from "../../store/secrets/secrets.ts";
import { FAILED_AUTHENTICATIONS_PER_SECOND } from "./auth.ts";
import { clientOf, rateLimit, rateLimited } from "./rate-limit.ts";

export interface PresentedOperatorKey {
  /** The account of the API key. */
  readonly accountId: string;
  /** Value of the header `X-Operator-Key`; null: it was not sent. */
  readonly key: string | null;
  readonly clientAddress: string;
}

export interface OperatorCheck {
  /** Throws ApiError: 403 for a missing or wrong key, 429 after too many wrong ones, 501 where there is none. */
  readonly require: (presented: PresentedOperatorKey) => void;
  /** Whether the deployment may be seen. A wrong key is refused as above. */
  readonly maySee: (presented: PresentedOperatorKey, db: Db) => Promise<boolean>;
}

/** @param operatorKey null: the deployment has none */
export function operatorCheck(operatorKey: string | null, nowMs: () => number): OperatorCheck {
  const failures = rateLimit(FAILED_AUTHENTICATIONS_PER_SECOND);
  // The comparison of hashes takes the same time for every key.
  const hash = operatorKey === null ? null : hashToken(operatorKey);
  const check = ({ key, clientAddress }: PresentedOperatorKey): void => {
    if (hash === null) {
      const how = "set OPERATOR_KEY, or set the engines in the environment of the service";
      throw new ApiError("not_available", `This deployment has no operator key: ${how}.`);
    }
    if (key === null) throw new ApiError("forbidden", "Send the operator key in the X-Operator-Key header.");
    const atMs = nowMs();
    const client = clientOf(clientAddress);
    const waitMs = failures.peek(client, atMs);
    if (waitMs > 0) throw rateLimited("Too many wrong operator keys", waitMs);
    if (isHashOf(hash, key)) return;
    failures.take(client, atMs);
    throw new ApiError("forbidden", "The operator key in the X-Operator-Key header is not right.");
  };
  return {
    require: check,
    maySee: async (presented, db) => {
      if (presented.key === null) return isDefaultAccount(db, presented.accountId);
      check(presented);
      return true;
    },
  };
}
