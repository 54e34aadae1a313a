/** Event logs of calls, kept with the call for replay and erased with it. */

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { sql } from "kysely";
import type { Db } from "./db.ts";
import { keptPlan } from "./kept-plans.ts";

/**
 * Of a call that failed: the log as it was given; any JSON. One per call: a later one replaces it. Sealed as a whole, because it holds the
 * call's plan. False: the account has no such call.
 */
export async function saveEventLog(db: Db, accountId: string, callId: string, log: object): Promise<boolean> {
  const sealed = db.sealer.seal(JSON.stringify(log), logContext(callId));
  const written = await sql`
    insert into call_event_logs (call_id, account_id, sealed_log, created_at)
    select id, account_id, ${sealed}, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id) do update set sealed_log = excluded.sealed_log, created_at = excluded.created_at`.execute(
    db.query,
  );
  return written.numAffectedRows === 1n;
}

export async function getEventLog(
  db: Db,
  accountId: string,
  callId: string,
): Promise<Record<string, unknown> | null> {
  const read = await sql<{ sealed_log: string }>`
    select sealed_log from call_event_logs where call_id = ${callId} and account_id = ${accountId}`.execute(
    db.query,
  );
  const sealed = read.rows[0]?.sealed_log;
  if (sealed === undefined) return null;
  return JSON.parse(db.sealer.open(sealed, logContext(callId))) as Record<string, unknown>;
}

function logContext(callId: string): string {
  return `call_event_logs:${callId}`;
}

export interface EventLogChunk {
  /** From 0, without gaps. */
  readonly index: number;
  readonly eventCount: number;
  /** Lines of text. */
  readonly text: string;
}

/** Largest chunk when unpacked; the runner's are a tenth of it at most. Bounds what a broken row can cost. */
const CHUNK_MAX_BYTES = 64 * 1024 * 1024;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Writing the same chunk again changes nothing. False: the account has no such call. */
export async function saveEventLogChunk(
  db: Db,
  accountId: string,
  callId: string,
  { index, eventCount, text }: EventLogChunk,
): Promise<boolean> {
  // In a thread of its own: the calls go on meanwhile.
  const packed = await pack(text);
  const sealed = db.sealer.seal(packed.toString("base64"), chunkContext(callId, index));
  const written = await sql`${keptPlan}
    insert into call_event_log_chunks (call_id, account_id, chunk_index, event_count, sealed_events, created_at)
    select id, account_id, ${index}::int, ${eventCount}::int, ${sealed}, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id, chunk_index) do update set event_count = excluded.event_count,
      sealed_events = excluded.sealed_events`.execute(db.query);
  return written.numAffectedRows === 1n;
}

/** One at a time, so that a long log costs little memory. Null: there is none of this index. */
export async function readEventLogChunk(
  db: Db,
  accountId: string,
  callId: string,
  index: number,
): Promise<string | null> {
  const read = await sql<{ sealed_events: string }>`
    select sealed_events from call_event_log_chunks
    where call_id = ${callId} and account_id = ${accountId} and chunk_index = ${index}::int`.execute(
    db.query,
  );
  const sealed = read.rows[0]?.sealed_events;
  if (sealed === undefined) return null;
  const packed = Buffer.from(db.sealer.open(sealed, chunkContext(callId, index)), "base64");
  return (await unpack(packed, { maxOutputLength: CHUNK_MAX_BYTES })).toString("utf8");
}

/** The highest index; below it chunks may be lost. Null: there is no chunk. */
export async function lastEventLogChunk(db: Db, accountId: string, callId: string): Promise<number | null> {
  const read = await sql<{ last: number | null }>`
    select max(chunk_index) as last from call_event_log_chunks
    where call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0]?.last ?? null;
}

/** What a whole log has. */
export interface EventLogEnd {
  readonly chunks: number;
  readonly events: number;
}

/** Writing it again changes nothing. False: the account has no such call. */
export async function saveEventLogEnd(
  db: Db,
  accountId: string,
  callId: string,
  { chunks, events }: EventLogEnd,
): Promise<boolean> {
  const written = await sql`${keptPlan}
    insert into call_event_log_ends (call_id, account_id, chunk_count, event_count)
    select id, account_id, ${chunks}::int, ${events}::int
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id) do update set chunk_count = excluded.chunk_count,
      event_count = excluded.event_count`.execute(db.query);
  return written.numAffectedRows === 1n;
}

/** Null: the call goes on, or its process did not come to say it. */
export async function readEventLogEnd(
  db: Db,
  accountId: string,
  callId: string,
): Promise<EventLogEnd | null> {
  const read = await sql<EventLogEnd>`
    select chunk_count as chunks, event_count as events from call_event_log_ends
    where call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

function chunkContext(callId: string, index: number): string {
  return `call_event_log_chunks:${callId}:${String(index)}`;
}
