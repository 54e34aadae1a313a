/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

export interface CallThrottle {
  /** A UUID. */
  throttleId: string;
  /** At most 64 characters. */
  name: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** A call is created when all rules allow it. At most 10 entries. */
  rules: ThrottleRule[];
}

export interface CallThrottlePage {
  results: CallThrottle[];
  next: string | null;
  previous: string | null;
  /**
   * Number of matches. If counting them would take too long, a lower bound; `totalRelation` is then
   * `at-least`. At least 0.
   */
  total: number;
  /**
   * `at-least` if there may be more matches than `total`; absent if `total` is exact. The header
   * `Total-Relation` has the same value.
   */
  totalRelation?: "at-least" | undefined;
}

export interface CallThrottlePatch {
  /** At most 64 characters. */
  name?: string | undefined;
  /** A call is created when all rules allow it. At most 10 entries. */
  rules?: ThrottleRule[] | undefined;
}

export interface CallThrottleWrite {
  /** At most 64 characters. */
  name: string;
  /** A call is created when all rules allow it. At most 10 entries. */
  rules: ThrottleRule[];
}

export interface ThrottleRule {
  /** Most calls in any window. From 1 to 100. */
  maxCalls: number;
  /** Length of the sliding window. From 1 to 86400. */
  windowSeconds: number;
}
