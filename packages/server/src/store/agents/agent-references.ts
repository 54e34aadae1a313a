/** References to agents: the agent must exist when they are stored, and its deletion removes them. */

import { sql } from "kysely";
import type { Row } from "../database/database.ts";
import type { Db } from "../database/db.ts";
import { UnknownAgentError } from "../database/store-errors.ts";

/**
 * Within a transaction: checks that the agent exists, and locks it against deletion until the transaction ends.
 * @throws UnknownAgentError when the account has no such agent.
 */
export async function requireAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  const held = await sql`
    select id from agents where id = ${agentId} and account_id = ${accountId} and deleted_at is null
    for share`.execute(tx.query);
  if (held.rows.length === 0) throw new UnknownAgentError();
}

/** Settings refer to agents that the account does not have (400). */
export class UnknownAgentsError extends Error {
  override readonly name = "UnknownAgentsError";
  readonly agentIds: readonly string[];

  constructor(agentIds: readonly string[]) {
    super(`The account has no agents ${agentIds.join(", ")}.`);
    this.agentIds = agentIds;
  }
}

/**
 * Within a transaction: returns the ids that are agents of the account, and locks these against deletion until it ends.
 */
export async function lockAgents(
  tx: Db,
  accountId: string,
  agentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (agentIds.length === 0) return new Set();
  const held = await sql<Pick<Row<"agents">, "id">>`
    select id from agents where account_id = ${accountId} and deleted_at is null
      and id = any(${[...agentIds]}::uuid[])
    order by id for share`.execute(tx.query);
  return new Set(held.rows.map(({ id }) => id));
}
