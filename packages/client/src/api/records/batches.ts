/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type {
  CallMedium,
} from "./media.ts";

/** The body that changes a batch that has not ended. Null clears a field or restores its default. */
export interface BatchPatch {
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowStart?: string | null | undefined;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowEnd?: string | null | undefined;
  /** Name or id of a call throttle. At most 1000 characters. */
  throttle?: string | null | undefined;
  /** A URL. At most 200 characters. */
  webhookUrl?: string | null | undefined;
  /** Signs requests to `webhookUrl`. Unset: the service makes one. At most 120 characters. */
  webhookSecret?: string | null | undefined;
  paused?: boolean | null | undefined;
  /** At most 100 characters. */
  name?: string | null | undefined;
  retryPolicy?:
    | {
      /** Attempts per scheduled call, including the first. From 1 to 5. */
      maxAttempts: number;
      /**
       * From the end of an attempt to the next attempt. A duration in seconds, such as `30s`. At most 86400s.
       */
      wait: string;
      /** Outcomes that are retried. */
      on: Array<"busy" | "no_answer" | "failed" | "machine">;
    }
    | null
    | undefined;
  callingHours?:
    | {
      /** An IANA time zone, or `callee` for the time zone of the dialled number. At most 64 characters. */
      timeZone: string;
      days: Array<"mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun">;
      start: string;
      /** After `start`. */
      end: string;
    }
    | null
    | undefined;
  /** From 1 to 20. */
  maxAttemptsPerNumberPerDay?: number | null | undefined;
  respectDoNotCall?: boolean | null | undefined;
  /** From 0 to 1. */
  pauseOnFailureRate?: number | null | undefined;
}

/** The body that creates a batch. All of its calls are accepted, or none. */
export interface BatchWrite {
  /** At most 100000 entries. */
  calls: ScheduledCallWrite[];
  /** No call is created before. Unset: now. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowStart?: string | undefined;
  /** No call is created after. Unset: no end. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowEnd?: string | undefined;
  /** Name or id of a call throttle. At most 1000 characters. */
  throttle?: string | undefined;
  /**
   * Receives a request with the join URL for each created call that the service does not dial. Required if
   * the batch has such calls, refused otherwise. A URL. At most 200 characters.
   */
  webhookUrl?: string | undefined;
  /** Signs requests to `webhookUrl`. Unset: the service makes one. At most 120 characters. */
  webhookSecret?: string | undefined;
  /** While true, no calls are created. The window still ends on time. Default: `false`. */
  paused?: boolean | undefined;
  /** For people: lists show it. It need not be unique. At most 100 characters. */
  name?: string | undefined;
  /** Unset: no retries. */
  retryPolicy?: {
    /** Attempts per scheduled call, including the first. From 1 to 5. */
    maxAttempts: number;
    /**
     * From the end of an attempt to the next attempt. A duration in seconds, such as `30s`. At most 86400s.
     */
    wait: string;
    /** Outcomes that are retried. */
    on: Array<"busy" | "no_answer" | "failed" | "machine">;
  } | undefined;
  /** Unset: calls at any hour. */
  callingHours?: {
    /** An IANA time zone, or `callee` for the time zone of the dialled number. At most 64 characters. */
    timeZone: string;
    days: Array<"mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun">;
    start: string;
    /** After `start`. */
    end: string;
  } | undefined;
  /** Unset: no limit. From 1 to 20. */
  maxAttemptsPerNumberPerDay?: number | undefined;
  /** Do not dial numbers on the do-not-call list. Default: `true`. */
  respectDoNotCall?: boolean | undefined;
  /**
   * Share of failures, of at least 5 outcomes within 2 minutes, that pauses the batch. From 0 to 1. Default:
   * `0.5`.
   */
  pauseOnFailureRate?: number | undefined;
}

/** A number that scheduled calls do not dial. */
export interface DoNotCallEntry {
  /** At most 256 characters. */
  number: string;
  /** At most 240 characters. */
  note: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
}

export interface DoNotCallPage {
  results: DoNotCallEntry[];
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

/** The body that adds a number to the do-not-call list. */
export interface DoNotCallWrite {
  /** An E.164 number or a SIP URI. At most 256 characters. */
  number: string;
  /** At most 240 characters. */
  note?: string | undefined;
}

/** A call of a batch. SUCCESS means that it was created, not how it ended. */
export interface ScheduledCall {
  status: "FUTURE" | "PENDING" | "SUCCESS" | "EXPIRED" | "ERROR";
  /** A UUID. */
  batchId: string;
  /** The created call. A UUID. */
  callId: string | null;
  /** Why no call was created. */
  error: string | null;
  medium: CallMedium | null;
  metadata: Record<string, string> | null;
  templateContext: Record<string, unknown> | null;
  experimentalSettings: Record<string, unknown> | null;
}

/** Calls that the service creates on schedule. The calls have their own list. */
export interface ScheduledCallBatch {
  /** A UUID. */
  batchId: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  created: string;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowStart: string | null;
  /** A date-time, such as `2026-01-02T03:04:05.678Z`. */
  windowEnd: string | null;
  /** Name or id of a call throttle. At most 1000 characters. */
  throttle: string | null;
  /** A URL. At most 200 characters. */
  webhookUrl: string | null;
  /** Signs requests to `webhookUrl`. Unset: the service makes one. At most 120 characters. */
  webhookSecret: string | null;
  paused: boolean;
  /** At least 0. */
  totalCount: number;
  /** Scheduled calls with the status SUCCESS, EXPIRED or ERROR. At least 0. */
  completedCount: number;
  /** Scheduled calls with the status ERROR. At least 0. */
  failedCount: number;
  /** When no call was left to create. A date-time, such as `2026-01-02T03:04:05.678Z`. */
  endedAt: string | null;
  /** At most 100 characters. */
  name: string | null;
  retryPolicy: {
    /** Attempts per scheduled call, including the first. From 1 to 5. */
    maxAttempts: number;
    /**
     * From the end of an attempt to the next attempt. A duration in seconds, such as `30s`. At most 86400s.
     */
    wait: string;
    /** Outcomes that are retried. */
    on: Array<"busy" | "no_answer" | "failed" | "machine">;
  } | null;
  callingHours: {
    /** An IANA time zone, or `callee` for the time zone of the dialled number. At most 64 characters. */
    timeZone: string;
    days: Array<"mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun">;
    start: string;
    /** After `start`. */
    end: string;
  } | null;
  /** From 1 to 20. */
  maxAttemptsPerNumberPerDay: number | null;
  respectDoNotCall: boolean;
  /** From 0 to 1. */
  pauseOnFailureRate: number;
  /** Why the service paused the batch; null if a user paused it or it is not paused. */
  pauseReason: string | null;
}

export interface ScheduledCallBatchPage {
  results: ScheduledCallBatch[];
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

export interface ScheduledCallPage {
  results: ScheduledCall[];
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

/** One call of a new batch. Unset fields come from the agent when the call is created. */
export interface ScheduledCallWrite {
  medium?: CallMedium | undefined;
  /** At most 64 KiB. */
  metadata?: Record<string, string> | undefined;
  /** Fills the template strings of the agent. */
  templateContext?: Record<string, unknown> | undefined;
  experimentalSettings?: Record<string, unknown> | undefined;
}
