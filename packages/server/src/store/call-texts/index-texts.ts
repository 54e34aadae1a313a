/** Adds the words of ended calls to the index of transcripts, in portions. */

import { sql } from "kysely";
import { inSlices } from "../../pacing/in-slices.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { entriesOf } from "./text-entries.ts";
import { wordsOf } from "./words.ts";

/** Calls of one transaction: about 50 ms, which other statements of the embedded database wait for. */
const CALLS_PER_PORTION = 20;
/** Text of one call: two hours of speech without a pause. Bounds memory, and with the words the row. */
const TEXT_LIMIT = 150_000;
/** Messages of one call that are read. Bounds the work for one call. */
const MESSAGES_LIMIT = 5_000;
/** Lists show the beginning of the first message. */
const FIRST_WORDS_LIMIT = 200;
/** Calls of a span, after which the next one starts. A search reads a span in about 20 ms. */
const CALLS_PER_SPAN = 10_000;

/** One node at a time works, so that a span ends for all of them at once. */
const LOCK_CLASS = 0x7061_726c;
const LOCK_NUMBER = 0x7478;

type CallPart = Pick<
  Row<"calls">,
  "id" | "account_id" | "created_at" | "agent_id" | "voice_id" | "end_reason"
>;

interface SaidColumns extends CallPart {
  readonly span_id: number;
  readonly text: string | null;
  readonly first_words: string | null;
  readonly median_reply_ms: number | null;
}

/** The newest end first: calls of now do not wait for those of a year before. True: there may be more. */
export async function indexDueTexts(db: Db, callsPerSpan = CALLS_PER_SPAN): Promise<boolean> {
  const waiting = await sql`select 1 from call_texts_due limit 1`.execute(db.query);
  if (waiting.rows.length === 0) return false;
  return inTransaction(db, async (tx) => {
    const locked = await sql
      .raw<{ isMine: boolean }>(`select pg_try_advisory_xact_lock(${LOCK_CLASS}, ${LOCK_NUMBER}) as "isMine"`)
      .execute(tx.query);
    if (locked.rows[0]?.isMine !== true) return false;
    const due = await sql<Pick<Row<"call_texts_due">, "call_id">>`
      select call_id from call_texts_due order by ended_at desc limit ${CALLS_PER_PORTION}
      for update skip locked`.execute(tx.query);
    const ids = due.rows.map(({ call_id: callId }) => callId);
    await insertTexts(tx, await readSaid(tx, ids));
    await closeFullSpans(tx, ids, callsPerSpan);
    await sql`delete from call_texts_due where call_id = any(${ids}::uuid[])`.execute(tx.query);
    return ids.length === CALLS_PER_PORTION;
  });
}

/** Makes the first span of an account, which begins before all calls. */
async function readSaid(tx: Db, ids: readonly string[]): Promise<readonly SaidColumns[]> {
  await sql`insert into call_text_spans (account_id, starts_at)
    select distinct account_id, to_timestamp(0) from calls
    where id = any(${[...ids]}::uuid[]) and not exists (
      select 1 from call_text_spans as span where span.account_id = calls.account_id)`.execute(tx.query);
  const said = sql`call_messages where call_id = calls.id and not initial`;
  const firstOf = (role: "user" | "agent") => sql`(
    select left(text, ${FIRST_WORDS_LIMIT}) from ${said} and role = ${role} and text ~ '[^[:space:]]'
    order by ordinal limit 1)`;
  const read = await sql<SaidColumns>`
    select id, account_id, created_at, agent_id, voice_id, end_reason,
      (select id from call_text_spans as span
        where span.account_id = calls.account_id and span.starts_at <= calls.created_at
        order by span.starts_at desc limit 1) as span_id,
      (select left(string_agg(text, ' ' order by ordinal), ${TEXT_LIMIT}) from (
        select left(text, ${TEXT_LIMIT}) as text, ordinal from ${said} and role in ('user', 'agent')
        order by ordinal limit ${MESSAGES_LIMIT}) as spoken) as text,
      coalesce(${firstOf("user")}, ${firstOf("agent")}) as first_words,
      (select round(percentile_disc(0.5) within group (order by (extras ->> 'firstPlayedMs')::float8))::int
        from call_events where call_id = calls.id and type = 'turn.completed'
          and json_typeof(extras -> 'firstPlayedMs') = 'number') as median_reply_ms
    from calls where id = any(${[...ids]}::uuid[]) and not transcript_erased`.execute(tx.query);
  return read.rows;
}

async function insertTexts(tx: Db, said: readonly SaidColumns[]): Promise<void> {
  const rows: object[] = [];
  await inSlices(said, (call) => {
    const facts = { agentId: call.agent_id, voiceId: call.voice_id, endReason: call.end_reason };
    rows.push({
      call_id: call.id,
      account_id: call.account_id,
      span_id: call.span_id,
      created_at: call.created_at,
      words: entriesOf(call.span_id, wordsOf(call.text ?? ""), facts),
      first_words: call.first_words,
      median_reply_ms: call.median_reply_ms,
    });
  });
  await sql`
    insert into call_texts (call_id, account_id, span_id, created_at, words, first_words, median_reply_ms)
    select call_id, account_id, span_id, created_at, words::tsvector, first_words, median_reply_ms
    from json_to_recordset(${toJsonText(rows)}::json) as given (call_id uuid, account_id uuid, span_id bigint,
      created_at timestamptz, words text, first_words text, median_reply_ms int)
    on conflict (call_id) do update set words = excluded.words, span_id = excluded.span_id,
      first_words = excluded.first_words, median_reply_ms = excluded.median_reply_ms`.execute(tx.query);
}

/**
 * Starts the next span of each account whose last span is full, after its newest call, so that no call changes its
 * span. Each time two spans without calls go, so that they do not accumulate where calls are deleted by age.
 */
async function closeFullSpans(tx: Db, ids: readonly string[], callsPerSpan: number): Promise<void> {
  const opened = await sql<{ account_id: string }>`
    with added as (
      select span_id, count(*) as calls, max(created_at) as newest_at from call_texts
      where call_id = any(${[...ids]}::uuid[]) group by span_id
    ), counted as (
      update call_text_spans as span set calls = span.calls + added.calls,
        newest_at = greatest(span.newest_at, added.newest_at)
      from added where span.id = added.span_id
      returning span.account_id, span.starts_at, span.newest_at, span.calls
    )
    insert into call_text_spans (account_id, starts_at)
    select account_id, newest_at + interval '1 millisecond' from counted
    where calls >= ${callsPerSpan}::int and not exists (
      select 1 from call_text_spans as later
      where later.account_id = counted.account_id and later.starts_at > counted.starts_at)
    returning account_id`.execute(tx.query);
  for (const { account_id: accountId } of opened.rows) {
    await sql`
      delete from call_text_spans where id in (
        select id from (
          select id, starts_at, lead(starts_at) over (order by starts_at) as ends_at from call_text_spans
          where account_id = ${accountId}
        ) as span
        where starts_at > to_timestamp(0) and ends_at is not null and not exists (
          select 1 from calls where account_id = ${accountId} and created_at >= span.starts_at
            and created_at < span.ends_at)
        order by starts_at limit 2)`.execute(tx.query);
  }
}
