/**
 * Calls that the service dials through carriers. The intent is stored before the carrier is asked, and the outcome when
 * the carrier answers or sends its first callback, whichever comes first. A row stays after its call was deleted, because
 * it counts for the limits of the day. A transfer is a dial as well, with an id of its own in place of the call's.
 */

import type { ConfiguredCarrier } from "@parley/schema";
import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import type { DialledBy, DialResult } from "../database/tables/telephony.ts";

export type { DialResult };

export interface NewDial {
  readonly callId: string;
  readonly carrier: DialledBy;
  /** As it is dialled. */
  readonly number: string;
}

export interface DialRow {
  readonly callId: string;
  readonly accountId: string;
  readonly carrier: ConfiguredCarrier;
  readonly carrierCallId: string | null;
  /** Null while it is not over. */
  readonly result: DialResult | null;
}

/** Stores that the carrier is about to be asked. */
export async function intendDial(tx: Db, accountId: string, dial: NewDial): Promise<void> {
  const { callId, carrier, number } = dial;
  await sql`
    insert into carrier_dials (call_id, account_id, carrier, number, dialled_at)
    values (${callId}, ${accountId}, ${carrier}, ${toStorableText(number)}, ${databaseTime})`.execute(
    tx.query,
  );
}

/** Of a call that a carrier dials, by id alone: a callback of a carrier has no account before its signature was checked. */
export async function getDial(db: Db, callId: string): Promise<DialRow | null> {
  const read = await sql<DialRow>`
    select call_id as "callId", account_id as "accountId", carrier, carrier_call_id as "carrierCallId", result
    from carrier_dials where call_id = ${callId} and carrier <> 'sip'`.execute(db.query);
  return read.rows[0] ?? null;
}

/**
 * Stores the carrier's id of an accepted call.
 * @returns true when the call has ended meanwhile without a join, so that nobody would stop the ringing.
 */
export async function noteDialled(
  db: Db,
  accountId: string,
  callId: string,
  carrierCallId: string,
): Promise<boolean> {
  const noted = await sql<{ isAbandoned: boolean }>`
    update carrier_dials set carrier_call_id = coalesce(carrier_call_id, ${carrierCallId})
    where call_id = ${callId} and account_id = ${accountId}
    returning result is null and not exists (
      select 1 from calls where calls.id = carrier_dials.call_id and (calls.ended_at is null or calls.joined_at is not null)
    ) as "isAbandoned"`.execute(db.query);
  return noted.rows[0]?.isAbandoned ?? false;
}

/** Stores that the carrier has dialled nobody. */
export async function noteRefused(db: Db, accountId: string, callId: string, reason: string): Promise<void> {
  await sql`
    update carrier_dials set result = 'refused', ended_at = ${databaseTime}, detail = ${toStorableText(reason)}
    where call_id = ${callId} and account_id = ${accountId} and result is null`.execute(db.query);
}

export interface DialProgress {
  readonly carrierCallId: string | null;
  readonly isAnswered: boolean;
  readonly result: DialResult | null;
  readonly detail: string | null;
  readonly talkedMs: number | null;
}

/**
 * `noted`: something is new. `known`: it was said before, or comes after the end; without the carrier's id also of a call
 * that was not dialled. `other`: it is about another call of the carrier than the one that was dialled.
 */
export type ProgressOutcome = "noted" | "known" | "other";

/** Stores what a callback says. Callbacks may come late, twice, in any order, and before the carrier's own answer. */
export async function noteProgress(
  db: Db,
  accountId: string,
  callId: string,
  progress: DialProgress,
): Promise<ProgressOutcome> {
  const { carrierCallId, isAnswered, result, detail, talkedMs } = progress;
  const ended = sql`${result}::text is not null`;
  const isSame = sql`(carrier_call_id is null or ${carrierCallId}::text is null or carrier_call_id = ${carrierCallId}::text)`;
  const isNew = sql`(carrier_call_id is null and ${carrierCallId}::text is not null)
    or (${isAnswered}::boolean and answered_at is null) or ${ended}`;
  const noted = await sql<{ isNew: boolean }>`${preparedStatement}
    update carrier_dials set carrier_call_id = coalesce(carrier_call_id, ${carrierCallId}::text),
      answered_at = case when ${isAnswered}::boolean then coalesce(answered_at, ${databaseTime}) else answered_at end,
      result = ${result}::text, ended_at = case when ${ended} then ${databaseTime} end,
      detail = coalesce(${detail === null ? null : toStorableText(detail)}::text, detail),
      talked_ms = coalesce(${talkedMs}::bigint, talked_ms)
    where call_id = ${callId} and account_id = ${accountId} and result is null and ${isSame} and (${isNew})
    returning true as "isNew"`.execute(db.query);
  if (noted.rows.length === 1) return "noted";
  // Where the carrier has no id for it, as with SIP, there is no other one.
  if (carrierCallId === null) return "known";
  const same = await sql`
    select 1 from carrier_dials where call_id = ${callId} and account_id = ${accountId} and ${isSame}`.execute(
    db.query,
  );
  return same.rows.length === 1 ? "known" : "other";
}

/**
 * Stores the carrier's word for who has answered. False: it was said before, or it comes after the end of the greeting,
 * which is the last that a carrier finds out.
 */
export async function noteAnsweredBy(
  db: Db,
  accountId: string,
  callId: string,
  answeredBy: string,
): Promise<boolean> {
  const noted = await sql`
    update carrier_dials set answered_by = ${toStorableText(answeredBy)}
    where call_id = ${callId} and account_id = ${accountId}
      and answered_by is distinct from ${toStorableText(answeredBy)}
      and coalesce(answered_by, '') not like 'machine_end%'
    returning call_id`.execute(db.query);
  return noted.rows.length === 1;
}

/** What is known of a dialled call that somebody waits for. */
export interface DialledCall extends Pick<Row<"carrier_dials">, "result" | "detail"> {
  /** The carrier's word; null: it has not said who has answered. */
  readonly answeredBy: string | null;
  readonly callId: string;
  readonly isJoined: boolean;
  /** The call has ended, or was deleted. */
  readonly isOver: boolean;
}

/** Calls that the account of each waits for, in any order; those that are unknown are absent. */
export async function readDialledCalls(db: Db, callIds: readonly string[]): Promise<readonly DialledCall[]> {
  const read = await sql<DialledCall>`${preparedStatement}
    select dials.call_id as "callId", dials.result, dials.detail, dials.answered_by as "answeredBy", calls.joined_at is not null as "isJoined",
      calls.id is null or calls.ended_at is not null as "isOver"
    from carrier_dials as dials left join calls on calls.id = dials.call_id
    where dials.call_id = any(${[...callIds]}::uuid[])`.execute(db.query);
  return read.rows;
}

/** For the deletion of a call. */
export async function eraseDialOf(tx: Db, accountId: string, callId: string): Promise<void> {
  await sql`
    update carrier_dials set number = null, carrier_call_id = null, detail = null
    where call_id = ${callId} and account_id = ${accountId}`.execute(tx.query);
}

/** Longer than the limits of a day count, and than the longest call lasts. */
const KEPT_HOURS = 50;
/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** True: there may be more. */
export async function sweepDials(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from carrier_dials where ctid in (
      select ctid from carrier_dials where dialled_at <= ${databaseTime} - make_interval(hours => ${KEPT_HOURS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning call_id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}
