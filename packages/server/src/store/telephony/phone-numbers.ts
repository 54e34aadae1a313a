/** The numbers of an account and the agents that answer them. */

import { sql } from "kysely";
import { requireAgent } from "../agents/agent-references.ts";
import { creationTime } from "../database/creation-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { newestFirst, readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface PhoneNumberRow {
  /** In E.164 form or a SIP URI. */
  readonly number: string;
  readonly agentId: string;
  /** ISO 8601 UTC with milliseconds. */
  readonly createdAt: string;
}

const numberColumns = selectList("phone_numbers", {
  number: "number",
  agentId: "agent_id",
  createdAt: "created_at",
});

type NumberColumns = Selected<typeof numberColumns>;

/**
 * A number that is listed already gets the new agent.
 * @throws UnknownAgentError
 */
export async function assignNumber(
  db: Db,
  accountId: string,
  { number, agentId }: Pick<PhoneNumberRow, "number" | "agentId">,
): Promise<PhoneNumberRow> {
  return inTransaction(db, async (tx) => {
    await requireAgent(tx, accountId, agentId);
    const written = await sql<NumberColumns>`
      insert into phone_numbers (account_id, number, agent_id, created_at)
      values (${accountId}, ${number}, ${agentId}, ${creationTime()})
      on conflict (account_id, number) do update set agent_id = excluded.agent_id
      returning ${numberColumns}`.execute(tx.query);
    const [row] = written.rows;
    if (row === undefined) throw new Error("the inserted number was not returned");
    return row;
  });
}

/** Newest first. */
export async function listNumbers(
  db: Db,
  accountId: string,
  page: PageQuery,
): Promise<PageRows<PhoneNumberRow>> {
  return readPage<NumberColumns>(
    db,
    {
      columns: numberColumns,
      from: sql`phone_numbers`,
      where: [sql`account_id = ${accountId}`],
      ...newestFirst,
      id: sql`number`,
      idType: "text",
    },
    page,
  );
}

/** False: there is no such number. */
export async function removeNumber(db: Db, accountId: string, number: string): Promise<boolean> {
  const removed = await sql`
    delete from phone_numbers where account_id = ${accountId} and number = ${number} returning number`.execute(
    db.query,
  );
  return removed.rows.length === 1;
}

/** The agent that answers a number; null: none does. */
export async function agentOfNumber(db: Db, accountId: string, number: string): Promise<string | null> {
  const read = await sql<Pick<NumberColumns, "agentId">>`
    select agent_id as "agentId" from phone_numbers
    where account_id = ${accountId} and number = ${number}`.execute(db.query);
  return read.rows[0]?.agentId ?? null;
}

/** For the deletion of an agent. */
export async function dropNumbersOfAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  await sql`delete from phone_numbers where account_id = ${accountId} and agent_id = ${agentId}`.execute(
    tx.query,
  );
}
