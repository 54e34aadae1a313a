/** Records that name an agent, which must be there when they are stored and takes them along when it goes. */

import { sql } from "kysely";
import type { Db } from "./db.ts";
import { UnknownAgentError } from "./store-errors.ts";

/**
 * Within a transaction: the agent is there, and is not deleted before the transaction ends.
 * @throws UnknownAgentError when the account has no such agent.
 */
export async function requireAgent(tx: Db, accountId: string, agentId: string): Promise<void> {
  const held = await sql`
    select id from agents where id = ${agentId} and account_id = ${accountId} and deleted_at is null
    for share`.execute(tx.query);
  if (held.rows.length === 0) throw new UnknownAgentError();
}

/** Settings name agents that the account does not have (400). */
export class UnknownAgentsError extends Error {
  override readonly name = "UnknownAgentsError";
  readonly agentIds: readonly string[];

  constructor(agentIds: readonly string[]) {
    super(`The account has no agents ${agentIds.join(", ")}.`);
    this.agentIds = agentIds;
  }
}

/** Within a transaction: those of the ids that are agents of the account; none is deleted before it ends. */
export async function holdAgents(
  tx: Db,
  accountId: string,
  agentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (agentIds.length === 0) return new Set();
  const held = await sql<{ id: string }>`
    select id from agents where account_id = ${accountId} and deleted_at is null
      and id = any(${[...agentIds]}::uuid[])
    order by id for share`.execute(tx.query);
  return new Set(held.rows.map(({ id }) => id));
}
