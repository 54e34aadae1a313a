/** Tables of deleted calls: the record of the call, and the queue of files to remove. */

import type { EndReason } from "@parley/schema";
import type { BillingStatus } from "./calls.ts";
import type { ColumnsOf, Defaulted, NullableTimestamp, Timestamp } from "./columns.ts";

export interface DeletedCallsTable {
  id: string;
  account_id: string;
  agent_id: string | null;
  created_at: Timestamp;
  joined_at: NullableTimestamp;
  ended_at: NullableTimestamp;
  deleted_at: Timestamp;
  end_reason: EndReason | null;
  recording_enabled: boolean;
  had_summary: boolean;
  /** As on the wire. */
  max_duration: string;
  duration_ms: number | null;
  billed_duration_ms: number | null;
  /** Of calls over SIP. */
  sip_billed_ms: Defaulted<number | null>;
  billing_status: BillingStatus;
}

export const deletedCalls: ColumnsOf<DeletedCallsTable> = {
  id: "uuid",
  account_id: "uuid",
  agent_id: "uuid null",
  created_at: "timestamptz",
  joined_at: "timestamptz null",
  ended_at: "timestamptz null",
  deleted_at: "timestamptz",
  end_reason: "text null",
  recording_enabled: "boolean",
  had_summary: "boolean",
  max_duration: "text",
  duration_ms: "bigint null",
  billed_duration_ms: "bigint null",
  sip_billed_ms: "bigint null",
  billing_status: "text",
};

/** Files of deleted calls. */
export interface FilesToRemoveTable {
  call_id: string;
  node_id: string;
  failures: Defaulted<number>;
  /** The time of the next attempt. */
  due_at: Timestamp;
  /** In the store that the nodes share. */
  is_shared: Defaulted<boolean>;
}

export const filesToRemove: ColumnsOf<FilesToRemoveTable> = {
  call_id: "uuid",
  node_id: "text",
  failures: "integer",
  due_at: "timestamptz",
  is_shared: "boolean",
};
