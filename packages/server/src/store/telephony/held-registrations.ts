/** Which process keeps which SIP registrations: each is kept by one, so that a registrar has one address to call. */

import { sql } from "kysely";
import { databaseTime } from "../database/database-time.ts";
import type { Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { getSipRegistration, registrationContext, type SipRegistrationRow } from "./sip-registrations.ts";

/** Registrations that one process keeps. */
const MAX_HELD = 2_000;

export interface HeldRegistration extends Pick<
  SipRegistrationRow,
  "registrationId" | "username" | "proxy" | "outboundProxy" | "authUser"
> {
  readonly accountId: string;
  readonly password: string;
}

interface Columns extends Omit<HeldRegistration, "password"> {
  readonly sealedPassword: string;
}

/** Takes over the registrations that no process keeps, and keeps those of `holder`, for `holdMs`. */
export async function holdRegistrations(
  db: Db,
  holder: string,
  holdMs: number,
): Promise<readonly HeldRegistration[]> {
  const held = await sql<Columns>`
    with chosen as (
      select registrations.id from sip_registrations as registrations
        join accounts on accounts.id = registrations.account_id and accounts.sip_enabled and accounts.removed_at is null
      where registrations.held_by = ${holder} or registrations.held_until is null
        or registrations.held_until < ${databaseTime}
      order by registrations.id limit ${MAX_HELD} for update of registrations
    )
    update sip_registrations as registrations set held_by = ${holder},
      held_until = ${databaseTime} + make_interval(secs => ${holdMs / 1000})
    from chosen where registrations.id = chosen.id
    returning registrations.id as "registrationId", account_id as "accountId", username, proxy,
      outbound_proxy as "outboundProxy", auth_user as "authUser", sealed_password as "sealedPassword"`.execute(
    db.query,
  );
  return held.rows.map(({ sealedPassword, ...row }) => ({
    ...row,
    password: db.sealer.open(sealedPassword, registrationContext(row.registrationId)),
  }));
}

/** At the end of a process. */
export async function releaseRegistrations(db: Db, holder: string): Promise<void> {
  await sql`update sip_registrations set held_by = null, held_until = null where held_by = ${holder}`.execute(
    db.query,
  );
}

/** How an attempt ended. */
export interface RegistrationAttempt {
  readonly isSuccessful: boolean;
  /** Of the answer, or what stands for its absence: 408, 503, 403. */
  readonly status: number;
  readonly reason: string;
  /** Until the next attempt; null: there is none. */
  readonly nextInMs: number | null;
}

/** Without effect when another process keeps it by now. */
export async function noteRegistration(
  db: Db,
  holder: string,
  registrationId: string,
  { isSuccessful, status, reason, nextInMs }: RegistrationAttempt,
): Promise<void> {
  await sql`
    update sip_registrations set successful = ${isSuccessful}, last_status = ${status},
      last_reason = ${toStorableText(reason)}, attempted_at = ${databaseTime},
      next_attempt_at = ${databaseTime} + make_interval(secs => ${nextInMs === null ? null : nextInMs / 1000})
    where id = ${registrationId} and held_by = ${holder}`.execute(db.query);
}

/** With its password. Null: the account has no such registration. */
export async function readSipRegistrationToCheck(
  db: Db,
  accountId: string,
  registrationId: string,
): Promise<(SipRegistrationRow & { readonly password: string }) | null> {
  const registration = await getSipRegistration(db, accountId, registrationId);
  if (registration === null) return null;
  const read = await sql<{ sealed: string }>`
    select sealed_password as sealed from sip_registrations
    where id = ${registrationId} and account_id = ${accountId}`.execute(db.query);
  const [row] = read.rows;
  if (row === undefined) return null;
  return { ...registration, password: db.sealer.open(row.sealed, registrationContext(registrationId)) };
}
