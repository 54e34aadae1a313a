/**
 * The queue of scheduled calls. A claim is a lease by the clock of the database. An intent is stored before an external
 * system is called, or together with the created call. A lease that expires without an intent returns the call to the
 * queue; one that expires with an intent ends it with an error. So no call is made twice.
 */

import { sql } from "kysely";
import { openBatchSecret } from "./batches.ts";
import type { BatchExtensions } from "../database/tables/batches.ts";
import type { Row } from "../database/database.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { closeCalls, MOST_LAPSES, OUTCOME_UNKNOWN } from "./batch-outcomes.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { openScheduledCall } from "./scheduled-calls.ts";
import { ClaimLostError } from "../database/store-errors.ts";

/** A scheduled call and the claim on it. */
export interface ScheduledPlace {
  readonly batchId: string;
  readonly position: number;
  readonly claimId: string;
}

export interface ClaimedCall extends ScheduledPlace {
  /** Ended attempts at the dialled number. */
  readonly attempts: number;
  /** Of an earlier attempt. */
  readonly callId: string | null;
  /** The document with its secrets, or why it cannot be read. Null: too large for a claim, see `readDocument`. */
  readonly document: Readonly<Record<string, unknown>> | { readonly problem: string } | null;
}

export interface ClaimedBatch {
  readonly batchId: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly throttle: string | null;
  readonly webhookUrl: string | null;
  /** Null: it cannot be read. */
  readonly webhookSecret: string | null;
  readonly extensions: BatchExtensions;
  /** In the order of creation. Empty: none is due; the batch is checked again later. */
  readonly calls: readonly ClaimedCall[];
}

/** Free capacity of the process, which limits a claim. */
export interface CallRoom {
  /** Of a batch that is not in `batches`. */
  readonly perBatch: number;
  /** Batches with another capacity; those with 0 are skipped. */
  readonly batches: ReadonlyMap<string, number>;
  /** Accounts whose batches are skipped. */
  readonly fullAccounts: readonly string[];
}

/** Renewed while the work continues (D167). */
export const CLAIM_LEASE_SECONDS = 30;
/** Longer documents are read separately, so that reading a claim takes a few ms. */
const DOCUMENT_CHARS_CLAIMED = 16_384;
/** A batch without due calls is checked again after this, or when its next call is due. */
const IDLE_SECONDS = 30;
/** But not sooner than this, when another process has claimed the due calls. */
const LEAST_IDLE_SECONDS = 1;

/** Stable within a statement, so that an index can be used. Unlike `now()` it advances within a transaction. */
const now = sql`statement_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${CLAIM_LEASE_SECONDS})`;

type ScheduledRow = Row<"scheduled_calls">;

interface ClaimedColumns extends Omit<ClaimedBatch, "webhookSecret" | "calls"> {
  readonly sealedSecret: Row<"scheduled_batches">["sealed_webhook_secret"];
  /** Null: no call was claimed; the members below are null then too. */
  readonly position: ScheduledRow["position"] | null;
  readonly claimId: string;
  readonly attempts: ScheduledRow["attempts"];
  readonly callId: ScheduledRow["call_id"];
  readonly document: ScheduledRow["document"] | null;
  readonly sealedSecrets: ScheduledRow["sealed_secrets"];
}

/**
 * Claims calls of the batch that is next in turn. The batch is locked meanwhile, so that all nodes together claim calls
 * in order, and none after a pause or a deletion was confirmed. Null: no batch is due.
 */
export async function claimScheduledCalls(db: Db, room: CallRoom): Promise<ClaimedBatch | null> {
  const rooms = [...room.batches].map(([id, calls]) => ({ id, calls: Math.max(0, calls) }));
  const claimed = await sql<ClaimedColumns>`
    with rooms as materialized (
      select id, calls from json_to_recordset(${toJsonText(rooms)}::json) as given (id uuid, calls int)
    ), ready as materialized (
      select id from scheduled_batches
      where hidden_until is null and ended_at is null and not paused and turn_at <= ${now}
        and (window_start_at is null or window_start_at <= ${now}) and (window_end_at is null or window_end_at > ${now})
        and account_id <> all(${room.fullAccounts}::uuid[])
        and not exists (select 1 from rooms where rooms.id = scheduled_batches.id and rooms.calls = 0)
      order by turn_at, id limit 1 for no key update skip locked
    ), chosen as materialized (
      select one.batch_id, one.position from ready cross join lateral (
        select batch_id, position from scheduled_calls
        where batch_id = ready.id and status = 'FUTURE' and due_at <= ${now}
        order by due_at desc, position
        limit coalesce((select calls from rooms where rooms.id = ready.id), ${room.perBatch}::int)
        for update skip locked
      ) as one
    ), claimed as (
      update scheduled_calls as one set status = 'PENDING', claim_id = gen_random_uuid(), leased_until = ${leaseEnd}
      from chosen where one.batch_id = chosen.batch_id and one.position = chosen.position
      returning one.*
    ), turned as (
      update scheduled_batches as batch set turn_at = case when exists (select 1 from chosen) then ${now}
        else greatest(${now} + make_interval(secs => ${LEAST_IDLE_SECONDS}),
          least(${now} + make_interval(secs => ${IDLE_SECONDS}), (
            select min(due_at) from scheduled_calls where batch_id = ready.id and status = 'FUTURE'))) end
      from ready where batch.id = ready.id and batch.hidden_until is null returning batch.*
    )
    select turned.id as "batchId", turned.account_id as "accountId", turned.agent_id as "agentId", turned.throttle,
      turned.webhook_url as "webhookUrl", turned.sealed_webhook_secret as "sealedSecret", turned.extensions,
      claimed.position, claimed.claim_id as "claimId", claimed.attempts, claimed.call_id as "callId",
      case when octet_length(claimed.document::text) <= ${DOCUMENT_CHARS_CLAIMED} then claimed.document end as document,
      claimed.sealed_secrets as "sealedSecrets"
    from turned left join claimed on true order by claimed.due_at desc, claimed.position`.execute(db.query);
  const [first] = claimed.rows;
  if (first === undefined) return null;
  const { batchId, accountId, agentId, throttle, webhookUrl, extensions } = first;
  const calls = claimed.rows.flatMap((row) =>
    row.position === null ? [] : [toClaimed(db, row, row.position)],
  );
  const webhookSecret = secretOf(db, first);
  return { batchId, accountId, agentId, throttle, webhookUrl, webhookSecret, extensions, calls };
}

function secretOf(db: Db, { batchId, sealedSecret }: ClaimedColumns): string | null {
  try {
    return openBatchSecret(db, batchId, sealedSecret);
  } catch {
    // Sealed under a lost key. Calls that need the secret fail; the others are created.
    return null;
  }
}

function toClaimed(db: Db, row: ClaimedColumns, position: number): ClaimedCall {
  const { batchId, claimId, attempts, callId, document, sealedSecrets } = row;
  return {
    batchId,
    position,
    claimId,
    attempts,
    callId,
    document: document === null ? null : opened(db, { batchId, position }, document, sealedSecrets),
  };
}

function opened(
  db: Db,
  { batchId, position }: Omit<ScheduledPlace, "claimId">,
  document: Record<string, unknown>,
  sealedSecrets: string | null,
): Exclude<ClaimedCall["document"], null> {
  try {
    return openScheduledCall(db.sealer, batchId, position, document, sealedSecrets);
  } catch (error) {
    // One unreadable document, such as one sealed under a lost key, must not block the others.
    return { problem: String(error) };
  }
}

/** The document of a claimed call, of any size. Null: the claim is lost. */
export async function readDocument(
  db: Db,
  place: ScheduledPlace,
): Promise<Exclude<ClaimedCall["document"], null> | null> {
  const read = await sql<Pick<ScheduledRow, "document" | "sealed_secrets">>`${preparedStatement}
    select document, sealed_secrets from scheduled_calls where ${ofClaim(place)}`.execute(db.query);
  const [row] = read.rows;
  return row === undefined ? null : opened(db, place, row.document, row.sealed_secrets);
}

function ofClaim({ batchId, position, claimId }: ScheduledPlace) {
  return sql`batch_id = ${batchId}::uuid and position = ${position}::int and claim_id = ${claimId}::uuid
    and status = 'PENDING'`;
}

/**
 * Stores the intent to make the call: from now on it is made once or never. `callId` is set within the transaction that
 * writes the call. Until that transaction ends, the batch cannot be changed or deleted: a deletion is confirmed after
 * the call was stored, or the call is never made. Claims and outcomes do not wait.
 * @throws ClaimLostError when the call must not be made: the lease or the window has ended, or the batch was deleted.
 */
export async function intendCall(tx: Db, place: ScheduledPlace, callId: string | null): Promise<void> {
  const intended = await sql`${preparedStatement}
    with batch as materialized (
      select id from scheduled_batches
      where id = ${place.batchId}::uuid and hidden_until is null
        and (window_end_at is null or window_end_at > ${now})
      for key share
    )
    update scheduled_calls as one set intended_at = coalesce(one.intended_at, ${now}),
      call_id = coalesce(${callId}::uuid, one.call_id)
    from batch
    where one.batch_id = batch.id and one.position = ${place.position}::int
      and one.claim_id = ${place.claimId}::uuid and one.status = 'PENDING' and one.leased_until > ${now}
    returning one.position`.execute(tx.query);
  if (intended.rows.length === 0) throw new ClaimLostError("The claim on a scheduled call is lost.");
}

/** Returns the ids of the claims that are still held. */
export async function renewClaims(db: Db, places: readonly ScheduledPlace[]): Promise<ReadonlySet<string>> {
  if (places.length === 0) return new Set();
  const renewed = await sql<{ claimId: string }>`
    update scheduled_calls as one set leased_until = ${leaseEnd}
    from json_to_recordset(${placesJson(places)}::json) as held (batch_id uuid, position int, claim_id uuid)
    where one.batch_id = held.batch_id and one.position = held.position and one.claim_id = held.claim_id
      and one.status = 'PENDING'
    returning one.claim_id as "claimId"`.execute(db.query);
  return new Set(renewed.rows.map(({ claimId }) => claimId));
}

function placesJson(places: readonly ScheduledPlace[]): string {
  return toJsonText(
    places.map(({ batchId, position, claimId }) => ({ batch_id: batchId, position, claim_id: claimId })),
  );
}

/** Expired claims handled by one sweep; the next sweep, a few seconds later, handles the rest. */
const EXPIRED_AT_ONCE = 500;

export interface ExpiredClaims {
  readonly givenBack: number;
  readonly unknown: number;
}

/** Settles claims whose lease has expired. */
export async function sweepExpiredClaims(db: Db): Promise<ExpiredClaims> {
  const found = await sql<{ id: string }>`
    select distinct one.batch_id as id from (
      select batch_id from scheduled_calls where status = 'PENDING' and leased_until < ${now}
      order by leased_until limit ${EXPIRED_AT_ONCE}) as one
    join scheduled_batches as batch on batch.id = one.batch_id and batch.hidden_until is null`.execute(
    db.query,
  );
  let [givenBack, unknown] = [0, 0];
  for (const { id } of found.rows) {
    const settled = await inTransaction(db, async (tx) => settleExpired(tx, id));
    givenBack += settled.givenBack;
    unknown += settled.unknown;
  }
  return { givenBack, unknown };
}

async function settleExpired(tx: Db, batchId: string): Promise<ExpiredClaims> {
  const held = await sql`
    select id from scheduled_batches where id = ${batchId} and hidden_until is null
    for no key update skip locked`.execute(tx.query);
  if (held.rows.length === 0) return { givenBack: 0, unknown: 0 };
  // The carrier has named the dialled call in a callback: its request was accepted.
  const isDialled = sql`(intended_at is not null and exists (
    select 1 from carrier_dials as dials where dials.call_id = scheduled_calls.call_id
      and dials.carrier_call_id is not null and dials.dialled_at >= scheduled_calls.intended_at))`;
  const settled = await sql<{ status: "SUCCESS" | "ERROR" | "FUTURE" }>`
    update scheduled_calls set claim_id = null, leased_until = null, lapses = lapses + 1,
      status = case when ${isDialled} then 'SUCCESS' when intended_at is not null or lapses + 1 >= ${MOST_LAPSES} then 'ERROR' else 'FUTURE' end,
      error = case when ${isDialled} then null when intended_at is not null then ${OUTCOME_UNKNOWN}
        when lapses + 1 >= ${MOST_LAPSES} then 'the process that made the call stopped each time' end
    where batch_id = ${batchId} and position in (
      select position from scheduled_calls
      where batch_id = ${batchId} and status = 'PENDING' and leased_until < ${now} limit ${EXPIRED_AT_ONCE} for update)
    returning status`.execute(tx.query);
  const unknown = settled.rows.filter(({ status }) => status === "ERROR").length;
  const givenBack = settled.rows.filter(({ status }) => status === "FUTURE").length;
  const closed = settled.rows.length - givenBack;
  await closeCalls(tx, batchId, { closed, failed: unknown, goesBack: true });
  return { givenBack, unknown };
}
