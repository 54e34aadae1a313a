/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  Cost,
  EngineUsage,
} from "./engine-use.ts";

export interface Account {
  /** A UUID. */
  accountId: string;
  name: string;
  /** Calls that are created and not ended. At least 0. */
  activeCalls: number;
  /** Most calls at the same time. Null: no limit besides the service's capacity. At least 0. */
  allowedConcurrentCalls: number | null;
}

export interface ApiKey {
  /** The first eight characters of the key. */
  prefix: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  creator: string | null;
  /** At most 50 characters. */
  name: string;
  /**
   * When the key stops working, by the clock of the database. A date-time, such as
   * `2026-01-02T03:04:05.678Z`.
   */
  expiryDate: string | null;
  /** What the key may do; `calls` includes `read`, `admin` includes both. Null: everything. */
  scopes: Array<"read" | "calls" | "admin"> | null;
  revoked: boolean;
}

export interface ApiKeyCreate {
  /** At most 50 characters. */
  name: string;
  /**
   * The key stops working then. In the future, at most a hundred years ahead, and not after the end of the
   * key that creates it. No offset means UTC. A date-time, such as `2026-01-02T03:04:05.678Z`.
   */
  expiryDate?: string | undefined;
  /** What the key may do; absent: everything. It cannot be changed later. */
  scopes?: Array<"read" | "calls" | "admin"> | undefined;
}

export interface ApiKeyCreated {
  /** The first eight characters of the key. */
  prefix: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  creator: string | null;
  /** At most 50 characters. */
  name: string;
  /**
   * When the key stops working, by the clock of the database. A date-time, such as
   * `2026-01-02T03:04:05.678Z`.
   */
  expiryDate: string | null;
  /** What the key may do; `calls` includes `read`, `admin` includes both. Null: everything. */
  scopes: Array<"read" | "calls" | "admin"> | null;
  revoked: boolean;
  secret: string;
}

export interface ApiKeyPage {
  results: ApiKey[];
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

export interface ApiKeyWrite {
  /** Revocation is permanent: true never becomes false again. */
  revoked?: boolean | null | undefined;
}

/** Figures of a group of calls. */
export interface CallStatistics {
  /** At least 0. */
  totalCount: number;
  /** Calls that ended with connection_error or system_error. At least 0. */
  errorCount: number;
  /** At least 0. */
  joinedCount: number;
  /** From join to end, of ended calls. A duration in seconds, such as `30s`. */
  duration: string;
  /** Of billed calls; free and refunded calls are left out. At least 0. */
  billedMinutes: number;
}

/** Figures of calls, by the UTC day and hour in which they were created. */
export interface CallUsage {
  allTime: CallStatistics;
  /** Days with calls, at most the newest 3660. */
  daily: Array<{
    /** At least 0. */
    totalCount: number;
    /** Calls that ended with connection_error or system_error. At least 0. */
    errorCount: number;
    /** At least 0. */
    joinedCount: number;
    /** From join to end, of ended calls. A duration in seconds, such as `30s`. */
    duration: string;
    /** Of billed calls; free and refunded calls are left out. At least 0. */
    billedMinutes: number;
    /** A date, such as `2026-01-02`. */
    date: string;
  }>;
  /** Hours with calls, at most the newest 2160. */
  hourly: Array<{
    /** At least 0. */
    totalCount: number;
    /** Calls that ended with connection_error or system_error. At least 0. */
    errorCount: number;
    /** At least 0. */
    joinedCount: number;
    /** From join to end, of ended calls. A duration in seconds, such as `30s`. */
    duration: string;
    /** Of billed calls; free and refunded calls are left out. At least 0. */
    billedMinutes: number;
    /** A date, such as `2026-01-02`. */
    date: string;
    /** From 0 to 23. */
    hour: number;
  }>;
}

/** The number of simultaneous calls, counted every 10 seconds. */
export interface ConcurrencyResponse {
  timeSeries: Array<{
    /** When the bucket begins. A date-time, such as `2026-01-02T03:04:05.678Z`. */
    timestamp: string;
    /** Most calls that were created and not ended. At least 0. */
    maxTotalCalls: number;
    /** At least 0. */
    maxJoinedCalls: number;
    /** At least 0. */
    avgTotalCalls: number;
    /** At least 0. */
    avgJoinedCalls: number;
  }>;
}

/** What the calls of a period have used of each engine, by the UTC day of their creation. */
export interface EngineUsageResponse {
  /** A date, such as `2026-01-02`. */
  fromDate: string;
  /** A date, such as `2026-01-02`. */
  toDate: string;
  /** By kind, then by requests, at most 200. An engine has one entry for each currency. */
  engines: EngineUsage[];
  /** One for each currency in which the operator had prices. */
  costs: Cost[];
}

/** Billed minutes. */
export interface UsageResponse {
  /** Days with calls, at most the newest 3660. */
  dailyUsage: Array<{
    /** A date, such as `2026-01-02`. */
    date: string;
    /** At least 0. */
    minutes: number;
    /** At least 0. */
    sipMinutes: number;
  }>;
  /** At least 0. */
  totalMinutes: number;
  /** At least 0. */
  totalSipMinutes: number;
}

export interface AuditEntry {
  /** A UUID. */
  entryId: string;
  /** By the clock of the database. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /**
   * The `operationId` of the request, such as `deleteAgent`, or what a command did, such as `refundCall`.
   */
  operation: string;
  /** Where the change came from: a request, the command line, or the start of the service. */
  via: "api" | "command_line" | "start";
  /** The first eight characters of the API key of the request. */
  keyPrefix: string | null;
  keyName: string | null;
  /** What was changed: the last id of the path, or the id of what was created. Null: the account. */
  targetId: string | null;
  /** Its name before the change, or as it was created. */
  targetName: string | null;
  /** The IP address of the client. */
  clientAddress: string | null;
  /** `refused`: nothing was changed. */
  result: "done" | "refused";
  /** Why it was refused: the `code` of the problem. */
  code:
    | "validation_failed"
    | "unauthenticated"
    | "forbidden"
    | "missing_scope"
    | "not_found"
    | "method_not_allowed"
    | "conflict"
    | "gone"
    | "payload_too_large"
    | "unsupported_media_type"
    | "wrong_state"
    | "too_early"
    | "rate_limited"
    | "internal"
    | "not_available"
    | "no_capacity"
    | "call_elsewhere"
    | null;
  /** As in the header `X-Request-Id` and in the service's log. */
  requestId: string | null;
}

export interface AuditEntryPage {
  results: AuditEntry[];
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
