/** Event logs of calls, for replay. They are deleted with the call. */

import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { preparedStatement } from "../database/prepared-statements.ts";

/**
 * Stores the whole log of a failed call; any JSON. A later log replaces it. It is sealed as a whole, because it
 * contains the call's plan. False: the account has no such call, or its plan was erased: it quotes another call, which was
 * deleted.
 */
export async function saveEventLog(db: Db, accountId: string, callId: string, log: object): Promise<boolean> {
  const sealed = db.sealer.seal(JSON.stringify(log), logContext(callId));
  const written = await sql`
    insert into call_event_logs (call_id, account_id, sealed_log, created_at)
    select id, account_id, ${sealed}, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
      and (consultation_of is null or settings ->> 'systemPrompt' is not null)
    for share
    on conflict (call_id) do update set sealed_log = excluded.sealed_log, created_at = excluded.created_at`.execute(
    db.query,
  );
  return written.numAffectedRows === 1n;
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

/**
 * Largest chunk when unpacked; the runner's have at most a tenth of it. Bounds the memory that a broken row can take.
 */
const CHUNK_MAX_BYTES = 64 * 1024 * 1024;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/** Idempotent. False: the account has no such call. */
export async function saveEventLogChunk(
  db: Db,
  accountId: string,
  callId: string,
  { index, eventCount, text }: EventLogChunk,
): Promise<boolean> {
  // In a thread of the pool, so that the main thread is not blocked.
  const packed = await pack(text);
  const sealed = db.sealer.seal(packed.toString("base64"), chunkContext(callId, index));
  const written = await sql`${preparedStatement}
    insert into call_event_log_chunks (call_id, account_id, chunk_index, event_count, sealed_events, created_at)
    select id, account_id, ${index}::int, ${eventCount}::int, ${sealed}, ${new Date()}::timestamptz
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id, chunk_index) do update set event_count = excluded.event_count,
      sealed_events = excluded.sealed_events`.execute(db.query);
  return written.numAffectedRows === 1n;
}

/** Reads one chunk, so that a long log takes little memory. Null: there is none with this index. */
export async function readEventLogChunk(
  db: Db,
  accountId: string,
  callId: string,
  index: number,
): Promise<string | null> {
  const chunk = await db.query
    .selectFrom("call_event_log_chunks")
    .select("sealed_events")
    .where("call_id", "=", callId)
    .where("account_id", "=", accountId)
    .where("chunk_index", "=", index)
    .executeTakeFirst();
  if (chunk === undefined) return null;
  const packed = Buffer.from(db.sealer.open(chunk.sealed_events, chunkContext(callId, index)), "base64");
  return (await unpack(packed, { maxOutputLength: CHUNK_MAX_BYTES })).toString("utf8");
}

/** The highest index; chunks below it may be missing. Null: there is no chunk. */
export async function lastEventLogChunk(db: Db, accountId: string, callId: string): Promise<number | null> {
  const read = await sql<{ last: number | null }>`
    select max(chunk_index) as last from call_event_log_chunks
    where call_id = ${callId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0]?.last ?? null;
}

/** The size of a complete log. */
export interface EventLogEnd {
  readonly chunks: number;
  readonly events: number;
}

/** Idempotent. False: the account has no such call. */
export async function saveEventLogEnd(
  db: Db,
  accountId: string,
  callId: string,
  { chunks, events }: EventLogEnd,
): Promise<boolean> {
  const written = await sql`${preparedStatement}
    insert into call_event_log_ends (call_id, account_id, chunk_count, event_count)
    select id, account_id, ${chunks}::int, ${events}::int
    from calls where id = ${callId} and account_id = ${accountId}
    on conflict (call_id) do update set chunk_count = excluded.chunk_count,
      event_count = excluded.event_count`.execute(db.query);
  return written.numAffectedRows === 1n;
}

/** Null: the call is running, or its process stopped before it could store this. */
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
