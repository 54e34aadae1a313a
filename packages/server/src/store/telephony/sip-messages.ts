/** SIP messages of calls. They are deleted with the call. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface NewSipMessage {
  readonly callId: string;
  readonly accountId: string;
  /** In the order of the call. The same position is written once. */
  readonly position: number;
  /** ms since 1970. */
  readonly atMs: number;
  readonly isSent: boolean;
  readonly transport: string;
  /** An address with its port. */
  readonly source: string;
  readonly destination: string;
  /** Without secrets. */
  readonly text: string;
}

const columns = selectList("sip_messages", {
  position: "position",
  at: "sent_or_received_at",
  isSent: "is_sent",
  transport: "transport",
  source: "source",
  destination: "destination",
  text: "text",
});

export type SipMessageRow = Selected<typeof columns>;

/** Idempotent. Messages of calls that the account does not have (any more) are left out. */
export async function saveSipMessages(db: Db, messages: readonly NewSipMessage[]): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ callId, accountId, position, atMs, isSent, ...texts }) => ({
    call_id: callId,
    account_id: accountId,
    position,
    at: new Date(atMs).toISOString(),
    is_sent: isSent,
    ...texts,
  }));
  await sql`${preparedStatement}
    insert into sip_messages (call_id, account_id, position, sent_or_received_at, is_sent, transport, source, destination,
      text)
    select calls.id, calls.account_id, given.position, given.at, given.is_sent, given.transport, given.source,
      given.destination, given.text
    from json_to_recordset(${toJsonText(rows)}::json) as given (call_id uuid, account_id uuid, position bigint,
      at timestamptz, is_sent boolean, transport text, source text, destination text, text text)
      join calls on calls.id = given.call_id and calls.account_id = given.account_id
    on conflict do nothing`.execute(db.query);
}

/** In the order of the call. A call of another account has no rows. */
export async function listSipMessages(
  db: Db,
  accountId: string,
  callId: string,
  page: PageQuery,
): Promise<PageRows<SipMessageRow>> {
  return readPage<SipMessageRow>(
    db,
    {
      columns,
      from: sql`sip_messages`,
      where: [sql`call_id = ${callId}`, sql`account_id = ${accountId}`],
      sort: sql`position`,
      sortType: "bigint",
      id: sql`position`,
      idType: "bigint",
      descending: false,
    },
    page,
  );
}

export async function hasSipMessages(db: Db, accountId: string, callId: string): Promise<boolean> {
  const found = await sql`
    select 1 from sip_messages where call_id = ${callId} and account_id = ${accountId} limit 1`.execute(
    db.query,
  );
  return found.rows.length > 0;
}

/** All of one call, in its order; at most as many as are stored of one. */
export async function readSipMessages(
  db: Db,
  accountId: string,
  callId: string,
): Promise<readonly SipMessageRow[]> {
  const read = await sql<SipMessageRow>`
    select ${columns} from sip_messages where call_id = ${callId} and account_id = ${accountId}
    order by position`.execute(db.query);
  return read.rows;
}
