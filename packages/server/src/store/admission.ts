/**
 * Whether one more call may be created: the account's calls at a time, its rates, and a throttle. What is counted and
 * the call itself are written in one transaction that holds the account's or the throttle's row, so creations of one
 * account wait for each other, on whatever node they run, and those of other accounts do not.
 */

import type { ThrottleRule } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { insertCall, type NewCall } from "./calls.ts";
import { inTransaction, type Db } from "./db.ts";
import { toJsonText } from "./json-text.ts";
import { keptPlan } from "./kept-plans.ts";
import { CallNotAdmittedError, ThrottleGoneError } from "./store-errors.ts";

/** What a new call is counted against, besides the account's limit of calls at a time. */
export interface Admission {
  /** Null: none was asked for. */
  readonly throttleId: string | null;
  /** Sliding windows that hold for every account; empty: none. */
  readonly accountRates: readonly ThrottleRule[];
}

/**
 * Writes the call when it may be created, see `insertCall`.
 * @throws CallNotAdmittedError when a limit is reached; nothing is written and nothing is counted then.
 * @throws ThrottleGoneError when the account has no such throttle any more.
 */
export async function insertAdmittedCall(
  db: Db,
  accountId: string,
  call: NewCall,
  admission: Admission,
): Promise<void> {
  const { throttleId, accountRates } = admission;
  const { limit } = await readAccount(db, accountId);
  // Most accounts have no limits, and their calls are written as one statement.
  if (limit === null && throttleId === null && accountRates.length === 0) {
    await insertCall(db, accountId, call);
    return;
  }
  await inTransaction(db, async (tx) => {
    if (limit !== null || accountRates.length > 0) await admitToAccount(tx, accountId, call, accountRates);
    if (throttleId !== null) await claimThrottle(tx, accountId, throttleId, call.callId);
    await insertCall(tx, accountId, call);
  });
}

/**
 * Counts one call against a throttle, within the transaction that creates it.
 * @throws CallNotAdmittedError when a rule does not allow it; nothing is counted then.
 * @throws ThrottleGoneError when the account has no such throttle.
 */
export async function claimThrottle(
  tx: Db,
  accountId: string,
  throttleId: string,
  callId: string,
): Promise<void> {
  const locked = await sql<{ rules: readonly ThrottleRule[] }>`${keptPlan}
    select rules from call_throttles where id = ${throttleId} and account_id = ${accountId}
    for no key update`.execute(tx.query);
  const [throttle] = locked.rows;
  if (throttle === undefined) throw new ThrottleGoneError("There is no such call throttle.");
  const waitMs = await claim(tx, sql`throttle_id = ${throttleId}::uuid`, throttle.rules, {
    accountId,
    throttleId,
    callId,
  });
  if (waitMs > 0) throw new CallNotAdmittedError("throttle", waitMs);
}

interface AccountState {
  readonly limit: number | null;
}

async function readAccount(db: Db, accountId: string, lock = sql``): Promise<AccountState> {
  const read = await sql<AccountState & { readonly removed: boolean }>`${keptPlan}
    select allowed_concurrent_calls as "limit", removed_at is not null as removed
    from accounts where id = ${accountId} ${lock}`.execute(db.query);
  const [account] = read.rows;
  if (account === undefined || account.removed) throw new CallNotAdmittedError("account removed", 0);
  return account;
}

/** "No key": rows that refer to the account are written meanwhile. */
const LOCKED = sql`for no key update`;

async function admitToAccount(
  tx: Db,
  accountId: string,
  { callId }: NewCall,
  rates: readonly ThrottleRule[],
): Promise<void> {
  const { limit } = await readAccount(tx, accountId, LOCKED);
  // Counted by a statement of its own: only a later one sees the calls of whoever held the lock before.
  const active = await sql<{ count: number }>`
    select count(*) as count from calls where account_id = ${accountId} and ended_at is null`.execute(
    tx.query,
  );
  if (limit !== null && (active.rows[0]?.count ?? 0) >= limit) {
    throw new CallNotAdmittedError("calls at a time", CONCURRENCY_RETRY_MS);
  }
  if (rates.length === 0) return;
  const ofAccount = sql`account_id = ${accountId}::uuid and throttle_id is null`;
  const waitMs = await claim(tx, ofAccount, rates, { accountId, throttleId: null, callId });
  if (waitMs > 0) throw new CallNotAdmittedError("account rate", waitMs);
}

/** When a call ends is not known; where many run, one ends every few seconds. */
const CONCURRENCY_RETRY_MS = 5_000;

interface NewAdmission {
  readonly accountId: string;
  readonly throttleId: string | null;
  readonly callId: string;
}

/**
 * Counts the call when every rule allows it, by the clock of the database, which all nodes share. A rule of n calls looks
 * at the n-th newest: while that one lies within the window, the window is full. Returns the ms until the last of the
 * rules that refuse will allow it, 0 when it was counted. The caller holds the row whose admissions these are.
 */
async function claim(
  tx: Db,
  which: RawBuilder<unknown>,
  rules: readonly ThrottleRule[],
  { accountId, throttleId, callId }: NewAdmission,
): Promise<number> {
  const full = await sql<{ wait_ms: number | null }>`${keptPlan}
    select ceil(max(extract(epoch from oldest.admitted_at - clock_timestamp()) + rule."windowSeconds") * 1000)::bigint
      as wait_ms
    from json_to_recordset(${toJsonText(rules)}::json) as rule ("maxCalls" int, "windowSeconds" int),
      lateral (select admitted_at from call_admissions where ${which} order by admitted_at desc
        offset rule."maxCalls" - 1 limit 1) as oldest
    where oldest.admitted_at + make_interval(secs => rule."windowSeconds") > clock_timestamp()`.execute(
    tx.query,
  );
  const waitMs = full.rows[0]?.wait_ms ?? null;
  if (waitMs !== null) return Math.max(1, waitMs);
  await sql`${keptPlan}
    with forgotten as (
      delete from call_admissions where ${which} and admitted_at < (
        select admitted_at from call_admissions where ${which} order by admitted_at desc
        offset ${keptAdmissions(rules)} limit 1)
    )
    insert into call_admissions (account_id, throttle_id, call_id, admitted_at)
    values (${accountId}, ${throttleId}, ${callId}, clock_timestamp())`.execute(tx.query);
  return 0;
}

/** The most calls of a rule of a throttle, whatever its rules will be changed to. */
const MOST_CALLS_OF_A_RULE = 100;

/** No rule looks further back than its number of calls; twice as many stay, for calls that are taken back. */
function keptAdmissions(rules: readonly ThrottleRule[]): number {
  return 2 * Math.max(MOST_CALLS_OF_A_RULE, ...rules.map(({ maxCalls }) => maxCalls));
}

/** The longest window of a rule. */
const COUNTED_HOURS = 24;

/** Rows deleted by one statement, which so stays short. */
const SWEEP_PORTION = 1_000;

/** Deletes some admissions that no rule can look at any more. True: there may be more. */
export async function sweepAdmissions(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from call_admissions where ctid in (
      select ctid from call_admissions where admitted_at <= clock_timestamp() - make_interval(hours => ${COUNTED_HOURS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning call_id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}
