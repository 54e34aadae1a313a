/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

import type { RequestOptions } from "../../request-options.ts";
import type {
  Account,
  ApiKey,
  ApiKeyCreate,
  ApiKeyCreated,
  ApiKeyPage,
  ApiKeyWrite,
  AuditEntry,
  AuditEntryPage,
  CallUsage,
  ConcurrencyResponse,
  EngineUsageResponse,
  UsageResponse,
} from "../records/account.ts";

/**
 * Get the number and duration of calls, by day and by hour: `GET /api/accounts/me/usage/calls`. Needs the
 * scope `read`.
 */
export interface GetCallUsageInput extends RequestOptions {
  readonly query?: {
    /** At most 100 entries. */
    agentIds?: string[] | undefined;
    /** From join to end, inclusive. A duration in seconds, such as `30s`. */
    durationMin?: string | undefined;
    /** A duration in seconds, such as `30s`. */
    durationMax?: string | undefined;
    /** Time of creation, inclusive. */
    fromDate?: string | undefined;
    /** A date or date-time; a bare date means its last moment and no offset means UTC. */
    toDate?: string | undefined;
    /** Time of day of the creation, UTC. */
    timeOfDayStart?: string | undefined;
    timeOfDayEnd?: string | undefined;
    /** Each `metadata.{key}` must equal the call's metadata for that key. */
    metadata?: Record<string, string> | undefined;
    /** At most 1000 characters. */
    search?: string | undefined;
    /** A UUID. */
    voiceId?: string | undefined;
  } | undefined;
}

/**
 * Get the requests, amounts and costs of each engine: `GET /api/accounts/me/usage/engines`. Needs the scope
 * `read`.
 */
export interface GetEngineUsageInput extends RequestOptions {
  readonly query?: {
    /** The first day, UTC. Default: 30 days that end with the last one. A date, such as `2026-01-02`. */
    fromDate?: string | undefined;
    /** The last day, UTC. Default: today. A date, such as `2026-01-02`. */
    toDate?: string | undefined;
  } | undefined;
}

/** Get the billed minutes, by day: `GET /api/accounts/me/billing/usage`. Needs the scope `read`. */
export interface GetBillingUsageInput extends RequestOptions {
  readonly query?: {
    /** The first day, UTC. A date, such as `2026-01-02`. */
    fromDate?: string | undefined;
    /** The last day, UTC. A date, such as `2026-01-02`. */
    toDate?: string | undefined;
  } | undefined;
}

/**
 * Get the number of simultaneous calls over time: `GET /api/accounts/me/usage/concurrency`. Needs the scope
 * `read`.
 */
export interface GetConcurrencyUsageInput extends RequestOptions {
  readonly query?: {
    /**
     * At most 1500 buckets are returned. minute and 5min are available for the last 7 days only. Default:
     * `"minute"`.
     */
    bucket?: "minute" | "5min" | "hour" | "day" | undefined;
    /** 24 hours ago when absent. The first bucket is the one that contains it. */
    start?: string | undefined;
    /** Now when absent. */
    end?: string | undefined;
  } | undefined;
}

/** List the accounts that the API key can use: only its own: `GET /api/accounts`. Needs the scope `read`. */
export type ListAccountsInput = RequestOptions;

/** Get the account of the API key: `GET /api/accounts/me`. Needs the scope `read`. */
export type GetAccountInput = RequestOptions;

/** List the API keys of the account, without their secrets: `GET /api/api_keys`. Needs the scope `read`. */
export interface ListApiKeysInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
  } | undefined;
}

/**
 * Create an API key; only this response contains the whole key: `POST /api/api_keys`. Needs the scope
 * `admin`.
 */
export interface CreateApiKeyInput extends RequestOptions {
  readonly body: ApiKeyCreate;
}

/** Get an API key, without its secret: `GET /api/api_keys/{api_key_prefix}`. Needs the scope `read`. */
export interface GetApiKeyInput extends RequestOptions {
  readonly params: {
    api_key_prefix: string;
  };
}

/**
 * Revoke an API key; no other field can change: `PUT /api/api_keys/{api_key_prefix}`. Needs the scope
 * `admin`.
 */
export interface ReplaceApiKeyInput extends RequestOptions {
  readonly params: {
    api_key_prefix: string;
  };
  readonly body?: ApiKeyWrite | undefined;
}

/**
 * Revoke an API key, at once and permanently; the last valid key of an account cannot be revoked: `PATCH
 * /api/api_keys/{api_key_prefix}`. Needs the scope `admin`.
 */
export interface UpdateApiKeyInput extends RequestOptions {
  readonly params: {
    api_key_prefix: string;
  };
  readonly body?: ApiKeyWrite | undefined;
}

/**
 * Delete an API key; the last valid key of an account cannot be deleted: `DELETE
 * /api/api_keys/{api_key_prefix}`. Needs the scope `admin`.
 */
export interface DeleteApiKeyInput extends RequestOptions {
  readonly params: {
    api_key_prefix: string;
  };
}

/** List the administrative changes of the account: `GET /api/audit_log`. Needs the scope `admin`. */
export interface ListAuditLogInput extends RequestOptions {
  readonly query?: {
    /** Opaque; part of `next` and `previous` of another page. */
    cursor?: string | undefined;
    /** Values above 100 count as 100. At least 1. Default: `20`. */
    pageSize?: number | undefined;
    /** Exactly this operation, such as `deleteAgent`. At most 100 characters. */
    operation?: string | undefined;
    keyPrefix?: string | undefined;
    /** Exactly this target. At most 256 characters. */
    targetId?: string | undefined;
    result?: "done" | "refused" | undefined;
    /** Time of the change, inclusive. */
    fromDate?: string | undefined;
    /** A date or date-time; a bare date means its last moment and no offset means UTC. */
    toDate?: string | undefined;
  } | undefined;
}

export interface AccountOperations {
  /** Get the number and duration of calls, by day and by hour. */
  "GET /api/accounts/me/usage/calls": { input: GetCallUsageInput; output: CallUsage };
  /** Get the requests, amounts and costs of each engine. */
  "GET /api/accounts/me/usage/engines": { input: GetEngineUsageInput; output: EngineUsageResponse };
  /** Get the billed minutes, by day. */
  "GET /api/accounts/me/billing/usage": { input: GetBillingUsageInput; output: UsageResponse };
  /** Get the number of simultaneous calls over time. */
  "GET /api/accounts/me/usage/concurrency": { input: GetConcurrencyUsageInput; output: ConcurrencyResponse };
  /** List the accounts that the API key can use: only its own. */
  "GET /api/accounts": { input: ListAccountsInput; output: Account[] };
  /** Get the account of the API key. */
  "GET /api/accounts/me": { input: GetAccountInput; output: Account };
  /** List the API keys of the account, without their secrets. */
  "GET /api/api_keys": { input: ListApiKeysInput; output: ApiKeyPage; row: ApiKey };
  /** Create an API key; only this response contains the whole key. */
  "POST /api/api_keys": { input: CreateApiKeyInput; output: ApiKeyCreated };
  /** Get an API key, without its secret. */
  "GET /api/api_keys/{api_key_prefix}": { input: GetApiKeyInput; output: ApiKey };
  /** Revoke an API key; no other field can change. */
  "PUT /api/api_keys/{api_key_prefix}": { input: ReplaceApiKeyInput; output: ApiKey };
  /** Revoke an API key, at once and permanently; the last valid key of an account cannot be revoked. */
  "PATCH /api/api_keys/{api_key_prefix}": { input: UpdateApiKeyInput; output: ApiKey };
  /** Delete an API key; the last valid key of an account cannot be deleted. */
  "DELETE /api/api_keys/{api_key_prefix}": { input: DeleteApiKeyInput; output: undefined };
  /** List the administrative changes of the account. */
  "GET /api/audit_log": { input: ListAuditLogInput; output: AuditEntryPage; row: AuditEntry };
}
