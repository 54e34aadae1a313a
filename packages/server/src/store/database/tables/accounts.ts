/** Tables of accounts: keys, limits, and answers to repeated requests. */

import type { AuditVia, ErrorCode, Scope, ThrottleRule, VoiceProvider } from "@parley/schema";
import type { ColumnsOf, Defaulted, Json, NullableTimestamp, Timestamp } from "./columns.ts";

export interface AccountsTable {
  id: string;
  name: string;
  is_default: Defaulted<boolean>;
  created_at: Timestamp;
  allowed_concurrent_calls: Defaulted<number | null>;
  removed_at: NullableTimestamp;
  /** The operator allows calls over SIP. */
  sip_enabled: Defaulted<boolean>;
}

export const accounts: ColumnsOf<AccountsTable> = {
  id: "uuid",
  name: "text",
  is_default: "boolean",
  created_at: "timestamptz",
  allowed_concurrent_calls: "integer null",
  removed_at: "timestamptz null",
  sip_enabled: "boolean",
};

export interface ApiKeysTable {
  prefix: string;
  account_id: string;
  hash: string;
  name: string;
  creator: string | null;
  created_at: Timestamp;
  expires_at: NullableTimestamp;
  revoked_at: NullableTimestamp;
  /** Null: the key may do everything. */
  scopes: readonly Scope[] | null;
}

export const apiKeys: ColumnsOf<ApiKeysTable> = {
  prefix: "text",
  account_id: "uuid",
  hash: "text",
  name: "text",
  creator: "text null",
  created_at: "timestamptz",
  expires_at: "timestamptz null",
  revoked_at: "timestamptz null",
  scopes: "text[] null",
};

/** Keys of accounts at voice providers. */
export interface TtsApiKeysTable {
  account_id: string;
  provider: VoiceProvider;
  /** The masked key, as answers show it. */
  prefix: string;
  sealed_key: string;
}

export const ttsApiKeys: ColumnsOf<TtsApiKeysTable> = {
  account_id: "uuid",
  provider: "text",
  prefix: "text",
  sealed_key: "text",
};

export interface CallThrottlesTable {
  id: string;
  account_id: string;
  name: string;
  created_at: Timestamp;
  rules: Json<readonly ThrottleRule[]>;
}

export const callThrottles: ColumnsOf<CallThrottlesTable> = {
  id: "uuid",
  account_id: "uuid",
  name: "text",
  created_at: "timestamptz",
  rules: "json",
};

/** Calls that count against a rate, of an account or of a throttle. */
export interface CallAdmissionsTable {
  account_id: string;
  /** Null: counts against the account. */
  throttle_id: string | null;
  call_id: string;
  admitted_at: Timestamp;
}

export const callAdmissions: ColumnsOf<CallAdmissionsTable> = {
  account_id: "uuid",
  throttle_id: "uuid null",
  call_id: "uuid",
  admitted_at: "timestamptz",
};

/** Idempotency records: one for each key of a client. */
export interface KeptAnswersTable {
  account_id: string;
  key_hash: string;
  request_hash: string;
  attempt_id: string;
  created_at: Timestamp;
  leased_until: Timestamp;
  sealed_answer: string | null;
  answered: Defaulted<boolean>;
  /** The resource that the answer shows; the answer is erased with it. */
  resource_id: string | null;
}

export const keptAnswers: ColumnsOf<KeptAnswersTable> = {
  account_id: "uuid",
  key_hash: "text",
  request_hash: "text",
  attempt_id: "uuid",
  created_at: "timestamptz",
  leased_until: "timestamptz",
  sealed_answer: "text null",
  answered: "boolean",
  resource_id: "uuid null",
};

/** Administrative changes, and refused requests for them. */
export interface AuditEntriesTable {
  id: string;
  account_id: string;
  created_at: Timestamp;
  operation: string;
  via: AuditVia;
  key_prefix: string | null;
  key_name: string | null;
  target_id: string | null;
  target_name: string | null;
  client_address: string | null;
  /** The code of the problem; null: the change was made. */
  refusal: ErrorCode | null;
  request_id: string | null;
}

export const auditEntries: ColumnsOf<AuditEntriesTable> = {
  id: "uuid",
  account_id: "uuid",
  created_at: "timestamptz",
  operation: "text",
  via: "text",
  key_prefix: "text null",
  key_name: "text null",
  target_id: "text null",
  target_name: "text null",
  client_address: "text null",
  refusal: "text null",
  request_id: "text null",
};
