/** Transfers of calls through a carrier or over SIP: whom to dial, and how far each has come, whichever process a callback reaches. */

import type { ConfiguredCarrier } from "@parley/schema";
import { sql } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import type { DialledBy, TransferState } from "../database/tables/telephony.ts";

export type { TransferState };

export interface NewTransfer<Order> {
  readonly transferId: string;
  readonly callId: string;
  readonly carrier: DialledBy;
  /** The call that is transferred. Of SIP, the id of the call. */
  readonly carrierCallId: string;
  /** What the instructions are made of. Sealed: it may have a password, and words of the conversation. */
  readonly order: Order;
  /** The call in which the agent talks with the called person; null or unset: the carrier itself dials and asks. */
  readonly consultCallId?: string | null;
}

export interface TransferRow extends NewTransfer<unknown> {
  readonly carrier: ConfiguredCarrier;
  readonly accountId: string;
  readonly state: TransferState;
  readonly consultCallId: string | null;
}

export async function insertTransfer(
  db: Db,
  accountId: string,
  transfer: NewTransfer<object>,
): Promise<void> {
  const { transferId, callId, carrier, carrierCallId, order, consultCallId = null } = transfer;
  const sealed = db.sealer.seal(JSON.stringify(order), orderContext(transferId));
  await sql`
    insert into call_transfers (id, call_id, account_id, carrier, carrier_call_id, sealed_order, state, requested_at,
      consult_call_id)
    values (${transferId}, ${callId}, ${accountId}, ${carrier}, ${carrierCallId}, ${sealed}, 'requested',
      ${databaseTime}, ${consultCallId})`.execute(db.query);
}

/** Through a carrier, by id alone: a request of a carrier has no account before its signature was checked. */
export async function getTransfer(db: Db, transferId: string): Promise<TransferRow | null> {
  const read = await sql<Omit<TransferRow, "order"> & { readonly sealedOrder: string }>`
    select id as "transferId", call_id as "callId", account_id as "accountId", carrier,
      carrier_call_id as "carrierCallId", sealed_order as "sealedOrder", state, consult_call_id as "consultCallId"
    from call_transfers where id = ${transferId} and carrier <> 'sip'`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) return null;
  const { sealedOrder, ...rest } = row;
  return { ...rest, order: JSON.parse(db.sealer.open(sealedOrder, orderContext(transferId))) as unknown };
}

/** The transfer about which the agent talks with the called person in this call. Null: in no transfer. */
export async function transferOfConsult(
  db: Db,
  accountId: string,
  consultCallId: string,
): Promise<string | null> {
  const read = await sql<{ readonly transferId: string }>`
    select id as "transferId" from call_transfers
    where consult_call_id = ${consultCallId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0]?.transferId ?? null;
}

/** A caller who waits for a transfer that no process pursues any more. */
export type LeftTransfer = Pick<
  TransferRow,
  "transferId" | "accountId" | "callId" | "carrier" | "carrierCallId"
> & { readonly consultCallId: string };

/** Of one sweep; bounds its requests to carriers. */
const LEFT_PORTION = 50;

/**
 * Ends, as canceled, transfers whose caller waits though the call has ended or was deleted: its process has stopped. Each
 * is returned to one process only.
 */
export async function takeLeftTransfers(db: Db): Promise<readonly LeftTransfer[]> {
  const taken = await sql<LeftTransfer>`
    update call_transfers as transfer set state = 'canceled'
    where id in (
      select candidate.id from call_transfers as candidate left join calls on calls.id = candidate.call_id
      where candidate.consult_call_id is not null and candidate.state in ('requested', 'dialling', 'answered')
        and (calls.id is null or calls.ended_at is not null)
      limit ${LEFT_PORTION})
      and transfer.state in ('requested', 'dialling', 'answered')
    returning id as "transferId", account_id as "accountId", call_id as "callId", carrier,
      carrier_call_id as "carrierCallId", consult_call_id as "consultCallId"`.execute(db.query);
  return taken.rows;
}

export interface TransferProgress {
  readonly state: TransferState;
  readonly failure: string | null;
}

/** Null: there is no such transfer, because its call was deleted. */
export async function readTransfer(
  db: Db,
  accountId: string,
  transferId: string,
): Promise<TransferProgress | null> {
  const read = await sql<TransferProgress>`
    select state, failure from call_transfers where id = ${transferId} and account_id = ${accountId}`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}

/** Goes on from one of the given states. False: it is in another one, which stays. */
export async function advanceTransfer(
  db: Db,
  accountId: string,
  transferId: string,
  step: { readonly from: readonly TransferState[]; readonly to: TransferState; readonly failure?: string },
): Promise<boolean> {
  const { from, to, failure = null } = step;
  const advanced = await sql`
    update call_transfers set state = ${to}, failure = ${failure === null ? null : toStorableText(failure)}
    where id = ${transferId} and account_id = ${accountId} and state = any(${[...from]}::text[])
    returning id`.execute(db.query);
  return advanced.rows.length === 1;
}

/** For the deletion of a call. The dials count for the limits of the day, but without their numbers. */
export async function eraseTransfersOf(tx: Db, accountId: string, callId: string): Promise<void> {
  await sql`
    update carrier_dials set number = null, carrier_call_id = null, detail = null
    where account_id = ${accountId} and call_id in (
      select id from call_transfers where call_id = ${callId} and account_id = ${accountId})`.execute(
    tx.query,
  );
  await sql`delete from call_transfers where call_id = ${callId} and account_id = ${accountId}`.execute(
    tx.query,
  );
}

/** As long as their dials are kept. */
const KEPT_HOURS = 50;
/** Rows deleted by one statement; bounds its locks. */
const SWEEP_PORTION = 1_000;

/** True: there may be more. */
export async function sweepTransfers(db: Db): Promise<boolean> {
  const swept = await sql`
    delete from call_transfers where ctid in (
      select ctid from call_transfers where requested_at <= ${databaseTime} - make_interval(hours => ${KEPT_HOURS})
      limit ${SWEEP_PORTION} for update skip locked)
    returning id`.execute(db.query);
  return swept.rows.length === SWEEP_PORTION;
}

/** Binds the sealed order to its row. */
function orderContext(transferId: string): string {
  return `call_transfers:${transferId}`;
}
