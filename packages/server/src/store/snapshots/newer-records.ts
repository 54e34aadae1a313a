/** What was stored of a call after its last snapshot. */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";

type Columns = Pick<
  Row<"call_messages">,
  | "stage_id"
  | "message_index"
  | "role"
  | "text"
  | "medium"
  | "invocation_id"
  | "tool_name"
  | "error_details"
  | "call_state"
  | "start_ms"
  | "end_ms"
  | "wall_start_ms"
  | "wall_end_ms"
  | "metadata"
>;

export type NewerMessage = Columns;

/** Messages of a window of some milliseconds; more is a fault, and the rest is left out. */
const MAX_NEWER = 200;

export interface NewerRecords {
  /** In their order. */
  readonly messages: readonly NewerMessage[];
  /** The highest number of a message of the call. */
  readonly version: number;
  /** Of the event log. */
  readonly chunks: number;
  readonly events: number;
}

/** @param version the number of the last message that the snapshot knows */
export async function readNewerRecords(
  db: Db,
  accountId: string,
  callId: string,
  version: number,
): Promise<NewerRecords> {
  const messages = await sql<Columns>`
    select stage_id, message_index, role, text, medium, invocation_id, tool_name, error_details, call_state,
      start_ms, end_ms, wall_start_ms, wall_end_ms, metadata
    from call_messages where call_id = ${callId} and account_id = ${accountId} and version > ${version}
    order by ordinal limit ${MAX_NEWER}`.execute(db.query);
  const read = await sql<{ version: number; chunks: number; events: number }>`
    select (select coalesce(max(version), 0)::int from call_messages where call_id = ${callId}) as version,
      coalesce(max(chunk_index) + 1, 0)::int as chunks, coalesce(sum(event_count), 0)::int as events
    from call_event_log_chunks where call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  const [totals = { version, chunks: 0, events: 0 }] = read.rows;
  return { messages: messages.rows, ...totals };
}
