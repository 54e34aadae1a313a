/**
 * Admission control for new calls: the account's concurrency limit, its rate limits, and a throttle. The count and the
 * call are written in one transaction that locks the account's or the throttle's row. So creations of one account wait
 * for each other on all nodes, and those of other accounts do not.
 */

import type { ThrottleRule } from "@parley/schema";
import { sql, type RawBuilder } from "kysely";
import { insertCall, type NewCall } from "../calls/calls.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { repeatsKey } from "../database/repeated-key.ts";
import { CallExistsError, CallNotAdmittedError, ThrottleGoneError } from "../database/store-errors.ts";

/** The primary key of `calls`. */
const CALLS_KEY = "calls_pkey";

/** What a new call is counted against, besides the account's limit of calls at a time. */
export interface Admission {
  /** Null: none. */
  readonly throttleId: string | null;
  /** Sliding windows that apply to every account; empty: none. */
  readonly accountRates: readonly ThrottleRule[];
}

/**
 * Writes the call if the limits allow it, see `insertCall`.
 * @throws CallNotAdmittedError when a limit is reached; nothing is written or counted.
 * @throws ThrottleGoneError when the account no longer has this throttle.
 * @throws CallExistsError when there is a call with this id; nothing is written or counted.
 */
export async function insertAdmittedCall(
  db: Db,
  accountId: string,
  call: NewCall,
  admission: Admission,
): Promise<void> {
  try {
    await admitAndInsert(db, accountId, call, admission);
  } catch (error) {
    throw repeatsKey(error, CALLS_KEY) ? new CallExistsError("The call already exists.") : error;
  }
}

async function admitAndInsert(db: Db, accountId: string, call: NewCall, admission: Admission): Promise<void> {
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
 * @throws CallNotAdmittedError when a rule does not allow it; nothing is counted.
 * @throws ThrottleGoneError when the account has no such throttle.
 */
export async function claimThrottle(
  tx: Db,
  accountId: string,
  throttleId: string,
  callId: string,
): Promise<void> {
  const locked = await sql<Pick<Row<"call_throttles">, "rules">>`${preparedStatement}
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
  const read = await sql<AccountState & { readonly removed: boolean }>`${preparedStatement}
    select allowed_concurrent_calls as "limit", removed_at is not null as removed
    from accounts where id = ${accountId} ${lock}`.execute(db.query);
  const [account] = read.rows;
  if (account === undefined || account.removed) throw new CallNotAdmittedError("account removed", 0);
  return account;
}

/** `no key`: rows that refer to the account can be inserted while it is locked. */
const LOCKED = sql`for no key update`;

async function admitToAccount(
  tx: Db,
  accountId: string,
  { callId }: NewCall,
  rates: readonly ThrottleRule[],
): Promise<void> {
  const { limit } = await readAccount(tx, accountId, LOCKED);
  // A separate statement: only a later one sees the calls that the previous holder of the lock has written.
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

/** It is unknown when a call will end. Where many run, one ends every few seconds. */
const CONCURRENCY_RETRY_MS = 5_000;

interface NewAdmission {
  readonly accountId: string;
  readonly throttleId: string | null;
  readonly callId: string;
}

/**
 * Counts the call if every rule allows it, by the clock of the database, which all nodes share. A rule of n calls
 * checks the n-th newest admission: while that one lies within the window, the window is full. Returns 0 when the call
 * was counted, otherwise the ms until all rules allow it. The caller has locked the account or the throttle.
 */
async function claim(
  tx: Db,
  which: RawBuilder<unknown>,
  rules: readonly ThrottleRule[],
  { accountId, throttleId, callId }: NewAdmission,
): Promise<number> {
  const full = await sql<{ wait_ms: number | null }>`${preparedStatement}
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
  await sql`${preparedStatement}
    with forgotten as (
      delete from call_admissions where ${which} and admitted_at < (
        select admitted_at from call_admissions where ${which} order by admitted_at desc
        offset ${retainedAdmissions(rules)} limit 1)
    )
    insert into call_admissions (account_id, throttle_id, call_id, admitted_at)
    values (${accountId}, ${throttleId}, ${callId}, clock_timestamp())`.execute(tx.query);
  return 0;
}

/** Upper limit of `maxCalls` in a rule of a throttle, so that later changes of the rules find enough admissions. */
const MOST_CALLS_OF_A_RULE = 100;

/**
 * No rule reads more admissions than its number of calls. Twice as many are retained, because calls that did not start
 * are removed.
 */
function retainedAdmissions(rules: readonly ThrottleRule[]): number {
  return 2 * Math.max(MOST_CALLS_OF_A_RULE, ...rules.map(({ maxCalls }) => maxCalls));
}

/** The longest window of a rule. */
const COUNTED_HOURS = 24;

/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** Deletes admissions that no rule can read any more. True: there may be more. */
export async function sweepAdmissions(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from call_admissions where ctid in (
      select ctid from call_admissions where admitted_at <= clock_timestamp() - make_interval(hours => ${COUNTED_HOURS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning call_id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}
