/** What the database knows of the calls in a journal. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { NODE_LOST_AFTER_MS } from "../nodes/nodes.ts";

/** `gone`: it was deleted. `erased`: its transcript was. `foreign`: it belongs to another node that is alive. */
export type JournalCallState = "open" | "gone" | "erased" | "foreign";

/** Calls of nodes that are gone count as open: no other node has their records. */
export async function stateOfJournalCall(db: Db, nodeId: string, callId: string): Promise<JournalCallState> {
  const alive = sql`select 1 from nodes where nodes.id = calls.node_id
    and nodes.lease_until >= clock_timestamp() - make_interval(secs => ${NODE_LOST_AFTER_MS / 1000})`;
  const read = await sql<{ state: JournalCallState }>`
    select case when transcript_erased then 'erased'
      when node_id <> ${nodeId} and exists (${alive}) then 'foreign' else 'open' end as state
    from calls where id = ${callId}::uuid`.execute(db.query);
  return read.rows[0]?.state ?? "gone";
}
