/** What an account may dial: prefixes of numbers, and calls and minutes within 24 hours. */

import { sql } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { intendDial, type NewDial } from "./carrier-dials.ts";

export interface DiallingRules {
  /** Empty: all numbers. */
  readonly allowedPrefixes: readonly string[];
  /** Within 24 hours; null: no limit. */
  readonly maxCallsPerDay: number | null;
  readonly maxMinutesPerDay: number | null;
}

const NO_DIALLING_RULES: DiallingRules = {
  allowedPrefixes: [],
  maxCallsPerDay: null,
  maxMinutesPerDay: null,
};

export async function readDiallingRules(db: Db, accountId: string): Promise<DiallingRules> {
  const read = await sql<DiallingRules>`
    select allowed_prefixes as "allowedPrefixes", max_calls_per_day as "maxCallsPerDay",
      max_minutes_per_day as "maxMinutesPerDay"
    from dialling_rules where account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? NO_DIALLING_RULES;
}

/** Absent members stay as they are. Changes of one account run one after the other. */
export async function changeDiallingRules(
  db: Db,
  accountId: string,
  changed: Partial<DiallingRules>,
): Promise<DiallingRules> {
  return inTransaction(db, async (tx) => {
    await sql`select id from accounts where id = ${accountId} for no key update`.execute(tx.query);
    const rules = { ...(await readDiallingRules(tx, accountId)), ...changed };
    const { allowedPrefixes, maxCallsPerDay, maxMinutesPerDay } = rules;
    await sql`
      insert into dialling_rules (account_id, allowed_prefixes, max_calls_per_day, max_minutes_per_day)
      values (${accountId}, ${[...allowedPrefixes]}::text[], ${maxCallsPerDay}, ${maxMinutesPerDay})
      on conflict (account_id) do update set allowed_prefixes = excluded.allowed_prefixes,
        max_calls_per_day = excluded.max_calls_per_day, max_minutes_per_day = excluded.max_minutes_per_day`.execute(
      tx.query,
    );
    return rules;
  });
}

/** `calls`, `minutes`: the limit of the day that is reached, and when there is room again. */
export type DialAdmission =
  { readonly kind: "admitted" } | { readonly kind: "calls" | "minutes"; readonly waitMs: number };

const WINDOW_HOURS = 24;
const MINUTE_MS = 60_000;
/** A limit of 0 never has room; its calls are looked at again after this. */
const NEVER_WAIT_MS = 3_600_000;

/** Within the limits of the day stores the intent to dial; otherwise nothing. */
export async function admitDial(
  db: Db,
  accountId: string,
  dial: NewDial,
  rules: Pick<DiallingRules, "maxCallsPerDay" | "maxMinutesPerDay">,
): Promise<DialAdmission> {
  const { maxCallsPerDay, maxMinutesPerDay } = rules;
  return inTransaction(db, async (tx) => {
    if (maxCallsPerDay !== null || maxMinutesPerDay !== null) {
      // Dials of one account wait for each other, on all nodes, so that many at once do not pass together.
      await sql`select pg_advisory_xact_lock(hashtextextended(${`dials ${accountId}`}, 0))`.execute(tx.query);
      const used = await readDialUse(tx, accountId);
      const callsWaitMs =
        maxCallsPerDay === null ? 0 : await waitForCalls(tx, accountId, used, maxCallsPerDay);
      if (callsWaitMs > 0) return { kind: "calls", waitMs: callsWaitMs };
      if (maxMinutesPerDay !== null && used.talkedMs >= maxMinutesPerDay * MINUTE_MS) {
        return { kind: "minutes", waitMs: Math.max(MINUTE_MS, used.oldestLeavesMs ?? NEVER_WAIT_MS) };
      }
    }
    await intendDial(tx, accountId, dial);
    return { kind: "admitted" };
  });
}

export interface DialUse {
  readonly calls: number;
  readonly talkedMs: number;
  /** When the oldest counted call leaves the window; null: there is none. */
  readonly oldestLeavesMs: number | null;
}

/** What was dialled within the window. A running call counts with the time until now, and a deleted one as long as it was. */
export async function readDialUse(db: Db, accountId: string): Promise<DialUse> {
  const lived = sql`extract(epoch from ${databaseTime} - calls.joined_at) * 1000`;
  // Of a transfer, which has no record of a call.
  const talked = sql`extract(epoch from coalesce(dials.ended_at, ${databaseTime}) - dials.answered_at) * 1000`;
  const read = await sql<DialUse>`
    select count(*)::int as calls,
      coalesce(sum(coalesce(dials.talked_ms, calls.duration_ms, deleted.duration_ms, (${lived})::bigint,
        (${talked})::bigint, 0)), 0)::bigint
        as "talkedMs",
      ceil(extract(epoch from min(dials.dialled_at) + make_interval(hours => ${WINDOW_HOURS}) - ${databaseTime}) * 1000)::bigint
        as "oldestLeavesMs"
    from carrier_dials as dials left join calls on calls.id = dials.call_id
      left join deleted_calls as deleted on deleted.id = dials.call_id
    where ${isCounted(accountId)}`.execute(db.query);
  return read.rows[0] ?? { calls: 0, talkedMs: 0, oldestLeavesMs: null };
}

async function waitForCalls(tx: Db, accountId: string, used: DialUse, most: number): Promise<number> {
  if (used.calls < most) return 0;
  if (most === 0) return NEVER_WAIT_MS;
  const read = await sql<{ waitMs: number }>`
    select ceil(extract(epoch from dials.dialled_at + make_interval(hours => ${WINDOW_HOURS}) - ${databaseTime}) * 1000)::bigint
      as "waitMs"
    from carrier_dials as dials where ${isCounted(accountId)}
    order by dials.dialled_at desc offset ${most - 1} limit 1`.execute(tx.query);
  return Math.max(1, read.rows[0]?.waitMs ?? 0);
}

/** A call that the carrier refused has cost nothing. */
function isCounted(accountId: string) {
  return sql`dials.account_id = ${accountId} and dials.result is distinct from 'refused'
    and dials.dialled_at > ${databaseTime} - make_interval(hours => ${WINDOW_HOURS})`;
}
