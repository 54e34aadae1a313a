/** Registrations at SIP registrars. Passwords are sealed. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toStorableText } from "../database/json-text.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface SipRegistrationRow {
  readonly registrationId: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
  readonly username: string;
  readonly proxy: string;
  readonly outboundProxy: string | null;
  readonly authUser: string | null;
  /** Null before the first answer of the registrar. */
  readonly successful: boolean | null;
  /** Of the last attempt; null before the first one has ended. */
  readonly lastStatus: number | null;
  readonly lastReason: string | null;
  readonly lastAttemptAt: string | null;
  readonly nextAttemptAt: string | null;
}

export interface NewSipRegistration {
  readonly username: string;
  readonly password: string;
  readonly proxy: string;
  readonly outboundProxy: string | null;
  readonly authUser: string | null;
}

const columns = selectList("sip_registrations", {
  registrationId: "id",
  createdAt: "created_at",
  username: "username",
  proxy: "proxy",
  outboundProxy: "outbound_proxy",
  authUser: "auth_user",
  successful: "successful",
  lastStatus: "last_status",
  lastReason: "last_reason",
  lastAttemptAt: "attempted_at",
  nextAttemptAt: "next_attempt_at",
});

type Columns = Selected<typeof columns>;

export async function createSipRegistration(
  db: Db,
  accountId: string,
  given: NewSipRegistration,
): Promise<SipRegistrationRow> {
  const registrationId = randomUUID();
  const sealed = db.sealer.seal(given.password, registrationContext(registrationId));
  const made = await sql<Columns>`
    insert into sip_registrations (id, account_id, username, sealed_password, proxy, outbound_proxy, auth_user, created_at)
    values (${registrationId}, ${accountId}, ${toStorableText(given.username)}, ${sealed}, ${toStorableText(given.proxy)},
      ${given.outboundProxy}, ${given.authUser}, ${creationTime()})
    returning ${columns}`.execute(db.query);
  const row = made.rows[0];
  if (row === undefined) throw new Error("the inserted registration was not returned");
  return row;
}

export async function getSipRegistration(
  db: Db,
  accountId: string,
  registrationId: string,
): Promise<SipRegistrationRow | null> {
  const read = await sql<Columns>`
    select ${columns} from sip_registrations where id = ${registrationId} and account_id = ${accountId}`.execute(
    db.query,
  );
  return read.rows[0] ?? null;
}

export async function hasSipRegistrations(db: Db, accountId: string): Promise<boolean> {
  const found = await sql`select 1 from sip_registrations where account_id = ${accountId} limit 1`.execute(
    db.query,
  );
  return found.rows.length > 0;
}

/** Newest first. */
export async function listSipRegistrations(
  db: Db,
  accountId: string,
  page: PageQuery,
): Promise<PageRows<SipRegistrationRow>> {
  return readPage<Columns>(
    db,
    {
      columns,
      from: sql`sip_registrations`,
      where: [sql`account_id = ${accountId}`],
      ...newestFirst,
    },
    page,
  );
}

/**
 * An absent member stays as it is. Any change resets what is known of the last attempt. Null: the account has no such
 * registration.
 */
export async function updateSipRegistration(
  db: Db,
  accountId: string,
  registrationId: string,
  change: Partial<NewSipRegistration>,
): Promise<SipRegistrationRow | null> {
  return inTransaction(db, async (tx) => {
    await sql`select id from sip_registrations where id = ${registrationId} and account_id = ${accountId}
      for update`.execute(tx.query);
    const present = await getSipRegistration(tx, accountId, registrationId);
    if (present === null) return null;
    const { username, proxy, outboundProxy, authUser } = { ...present, ...change };
    const sealed =
      change.password === undefined
        ? null
        : tx.sealer.seal(change.password, registrationContext(registrationId));
    const isSame = Object.keys(change).length === 0;
    const changed = await sql<Columns>`
      update sip_registrations set username = ${toStorableText(username)}, proxy = ${toStorableText(proxy)},
        outbound_proxy = ${outboundProxy}, auth_user = ${authUser},
        sealed_password = coalesce(${sealed}::text, sealed_password),
        successful = case when ${isSame}::boolean then successful end,
        last_status = case when ${isSame}::boolean then last_status end,
        last_reason = case when ${isSame}::boolean then last_reason end,
        attempted_at = case when ${isSame}::boolean then attempted_at end,
        next_attempt_at = case when ${isSame}::boolean then next_attempt_at end
      where id = ${registrationId} and account_id = ${accountId} returning ${columns}`.execute(tx.query);
    return changed.rows[0] ?? null;
  });
}

/** False: the account has no such registration. */
export async function deleteSipRegistration(
  db: Db,
  accountId: string,
  registrationId: string,
): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("sip_registrations")
    .where("id", "=", registrationId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

/** Binds the sealed password to its row. */
export function registrationContext(registrationId: string): string {
  return `sip_registrations:${registrationId}`;
}
