/** Transcripts of ended calls, in the length that a summary needs. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";

export interface SpokenMessage {
  readonly role: "user" | "agent";
  /** Cut at `SPOKEN_TEXT_LIMIT`. */
  readonly text: string;
}

/** A call that has ended and has neither a summary nor a `SUMMARY_FAILED` event. */
export interface CallToSummarize {
  /** BCP 47; null: not set. */
  readonly language: string | null;
  /** The last stage, to which new events belong. */
  readonly stageId: string;
  readonly durationMs: number;
  readonly beginning: readonly SpokenMessage[];
  /** Follows `beginning` directly if `leftOut` is 0. */
  readonly end: readonly SpokenMessage[];
  /** Number of messages between the two, which were not read. */
  readonly leftOut: number;
}

/** Limit of one message: ten minutes of speech. */
const SPOKEN_TEXT_LIMIT = 8_000;
/** Messages read of one call: more than fit into a request to the model. Bounds memory. */
const BEGINNING_LIMIT = 500;
const END_LIMIT = 1_500;

interface SpokenRow extends SpokenMessage {
  readonly place: string | number;
  readonly total: string | number;
}

/**
 * Null: there is no such call, it is running, its caller said nothing, its transcript is erased, or it has a summary or
 * a `SUMMARY_FAILED` event. Initial messages are left out.
 */
export async function readCallToSummarize(
  db: Db,
  accountId: string,
  callId: string,
): Promise<CallToSummarize | null> {
  const call = await sql<{ language: string | null; stageId: string; durationMs: string | number | null }>`
    select last_stage.settings ->> 'languageHint' as language, last_stage.id as "stageId",
      calls.duration_ms as "durationMs"
    from calls join lateral (
      select id, settings from call_stages where call_id = calls.id order by position desc limit 1
    ) as last_stage on true
    where calls.id = ${callId} and calls.account_id = ${accountId} and calls.ended_at is not null
      and not calls.transcript_erased and calls.summary is null and calls.short_summary is null
      and not exists (select 1 from call_events where call_id = calls.id and type = ${SUMMARY_FAILED})
      and exists (select 1 from call_messages where call_id = calls.id and role = 'user' and not initial)`.execute(
    db.query,
  );
  const [row] = call.rows;
  if (row === undefined) return null;
  const spoken = await readSpoken(db, accountId, callId);
  const total = Number(spoken[0]?.total ?? 0);
  const end = spoken.filter(({ place }) => Number(place) > BEGINNING_LIMIT);
  return {
    language: row.language,
    stageId: row.stageId,
    durationMs: Number(row.durationMs ?? 0),
    beginning: spoken.filter(({ place }) => Number(place) <= BEGINNING_LIMIT).map(spokenOf),
    end: end.map(spokenOf),
    leftOut: Math.max(0, total - spoken.length),
  };
}

/** Type of the event for a summary that could not be made. */
export const SUMMARY_FAILED = "summary.failed";

async function readSpoken(db: Db, accountId: string, callId: string): Promise<readonly SpokenRow[]> {
  const read = await sql<SpokenRow>`
    select role, text, place, total from (
      select role, left(text, ${SPOKEN_TEXT_LIMIT}) as text, ordinal,
        row_number() over (order by ordinal) as place, count(*) over () as total
      from call_messages
      where call_id = ${callId} and account_id = ${accountId} and not initial and role in ('user', 'agent')
    ) as said
    where place <= ${BEGINNING_LIMIT} or place > greatest(${BEGINNING_LIMIT}, total - ${END_LIMIT})
    order by ordinal`.execute(db.query);
  return read.rows;
}

function spokenOf({ role, text }: SpokenRow): SpokenMessage {
  return { role, text };
}
