/**
 * Scheduled calls that are due, claimed by whoever has room. A claim is a lease of the database's clock. Before anybody
 * outside is asked, or with the creation of the call, an intent is stored: a lease that ends without one goes back, and
 * one that ends with it is an error, never a second call.
 */

import { sql } from "kysely";
import { type BatchExtensions, openBatchSecret } from "./batches.ts";
import { inTransaction, type Db } from "./db.ts";
import { toJsonText } from "./json-text.ts";
import { closeCalls, MOST_LAPSES, OUTCOME_UNKNOWN } from "./batch-outcomes.ts";
import { keptPlan } from "./kept-plans.ts";
import { openScheduledCall } from "./scheduled-calls.ts";
import { ClaimLostError } from "./store-errors.ts";

/** Which scheduled call, and by which claim. */
export interface ScheduledPlace {
  readonly batchId: string;
  readonly position: number;
  readonly claimId: string;
}

export interface ClaimedCall extends ScheduledPlace {
  /** Ended attempts at the dialled number. */
  readonly attempts: number;
  /** Of an attempt before. */
  readonly callId: string | null;
  /** As it was given, with its secrets; why it cannot be read; or null: too large to be claimed along, see `readDocument`. */
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
  /** In the order in which they are to be made; empty: none is due, and the batch is looked at again later. */
  readonly calls: readonly ClaimedCall[];
}

/** What keeps a claim within what the process can do. */
export interface CallRoom {
  /** Of a batch that is not listed in `batches`. */
  readonly perBatch: number;
  /** Of batches with another room; those with 0 are passed over. */
  readonly batches: ReadonlyMap<string, number>;
  /** Accounts whose batches are passed over. */
  readonly fullAccounts: readonly string[];
}

/** D167. Renewed while the work goes on. */
export const CLAIM_LEASE_SECONDS = 30;
/** Longer documents are read one by one, so that a claim is read in a few ms. */
const DOCUMENT_CHARS_CLAIMED = 16_384;
/** A batch of which nothing is due is looked at again after this, or when the next of its calls is due. */
const IDLE_SECONDS = 30;
/** And not sooner than after this, where another process has what is due. */
const LEAST_IDLE_SECONDS = 1;

/** Stable within a statement, so that an index serves it; unlike `now()` it goes on within a transaction. */
const now = sql`statement_timestamp()`;
const leaseEnd = sql`${now} + make_interval(secs => ${CLAIM_LEASE_SECONDS})`;

interface ClaimedColumns extends Omit<ClaimedBatch, "webhookSecret" | "calls"> {
  readonly sealedSecret: string;
  /** Null: none was claimed, and so are the others. */
  readonly position: number | null;
  readonly claimId: string;
  readonly attempts: number;
  readonly callId: string | null;
  readonly document: Record<string, unknown> | null;
  readonly sealedSecrets: string | null;
}

/**
 * Claims calls of the batch whose turn it is. The batch is held meanwhile, so that calls are claimed in their order on
 * all nodes, and none after a pause or a deletion was answered. Null: it is no batch's turn.
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
    // Sealed under a lost key. Whoever needs the secret says so of each call; the others are made.
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
    // One that cannot be read, such as one sealed under a lost key, must not keep the others.
    return { problem: String(error) };
  }
}

/** The document of a claimed call, however large. Null: the claim is lost. */
export async function readDocument(
  db: Db,
  place: ScheduledPlace,
): Promise<Exclude<ClaimedCall["document"], null> | null> {
  const read = await sql<{ document: Record<string, unknown>; sealedSecrets: string | null }>`${keptPlan}
    select document, sealed_secrets as "sealedSecrets" from scheduled_calls where ${ofClaim(place)}`.execute(
    db.query,
  );
  const [row] = read.rows;
  return row === undefined ? null : opened(db, place, row.document, row.sealedSecrets);
}

function ofClaim({ batchId, position, claimId }: ScheduledPlace) {
  return sql`batch_id = ${batchId}::uuid and position = ${position}::int and claim_id = ${claimId}::uuid
    and status = 'PENDING'`;
}

/**
 * Stores that the call is about to be made: from here on it is made once or never. Within the transaction that writes the
 * record of the call, `callId` is kept with it. Until the transaction is over, the batch can be neither deleted nor
 * changed: whoever deletes it is answered when the call is there, or it is never made. Claims and outcomes wait for nothing.
 * @throws ClaimLostError when it must not be made: the lease or the window has ended, or the batch was deleted.
 */
export async function intendCall(tx: Db, place: ScheduledPlace, callId: string | null): Promise<void> {
  const intended = await sql`${keptPlan}
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

/** Gives the ids of the claims that are still held. */
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

/** Lapsed claims looked at by one sweep; what is left waits for the next, a few seconds later. */
const LAPSED_AT_ONCE = 500;

export interface LapsedClaims {
  readonly givenBack: number;
  readonly unknown: number;
}

/** Settles claims whose lease has ended. */
export async function sweepLapsedClaims(db: Db): Promise<LapsedClaims> {
  const found = await sql<{ id: string }>`
    select distinct one.batch_id as id from (
      select batch_id from scheduled_calls where status = 'PENDING' and leased_until < ${now}
      order by leased_until limit ${LAPSED_AT_ONCE}) as one
    join scheduled_batches as batch on batch.id = one.batch_id and batch.hidden_until is null`.execute(
    db.query,
  );
  let [givenBack, unknown] = [0, 0];
  for (const { id } of found.rows) {
    const settled = await inTransaction(db, async (tx) => settleLapsed(tx, id));
    givenBack += settled.givenBack;
    unknown += settled.unknown;
  }
  return { givenBack, unknown };
}

async function settleLapsed(tx: Db, batchId: string): Promise<LapsedClaims> {
  const held = await sql`
    select id from scheduled_batches where id = ${batchId} and hidden_until is null
    for no key update skip locked`.execute(tx.query);
  if (held.rows.length === 0) return { givenBack: 0, unknown: 0 };
  const settled = await sql<{ status: "ERROR" | "FUTURE" }>`
    update scheduled_calls set claim_id = null, leased_until = null, lapses = lapses + 1,
      status = case when intended_at is not null or lapses + 1 >= ${MOST_LAPSES} then 'ERROR' else 'FUTURE' end,
      error = case when intended_at is not null then ${OUTCOME_UNKNOWN}
        when lapses + 1 >= ${MOST_LAPSES} then 'whoever made the call was cut off again and again' end
    where batch_id = ${batchId} and position in (
      select position from scheduled_calls
      where batch_id = ${batchId} and status = 'PENDING' and leased_until < ${now} limit ${LAPSED_AT_ONCE} for update)
    returning status`.execute(tx.query);
  const unknown = settled.rows.filter(({ status }) => status === "ERROR").length;
  await closeCalls(tx, batchId, { closed: unknown, goesBack: true });
  return { givenBack: settled.rows.length - unknown, unknown };
}
