/** The database's view of recordings that a node uploads to the store which all nodes share. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";

/**
 * `ready`: its call has ended. `erased`: it must not be retained, because its call was deleted or is too old. `waits`:
 * its call is running, or the database does not know it, as after a restore; or another node has continued the call and
 * has the rest of its recording, which this part must not replace.
 */
export type FinishedRecording = "ready" | "erased" | "waits";

/** Of calls of any account, because the node has the files of all of them. */
export async function stateOfRecordings(
  db: Db,
  nodeId: string,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, FinishedRecording>> {
  const goesOnElsewhere = sql`node_id <> ${nodeId} and exists (select 1 from call_events
    where call_id = calls.id and type = 'call.resumed')`;
  const read = await sql<{ id: string; state: FinishedRecording }>`
    select id::text as id, case when recording_erased then 'erased' when ended_at is null or ${goesOnElsewhere} then 'waits'
      else 'ready' end as state
    from calls where id::text = any(${callIds}::text[])
    union all
    select id::text, 'erased' from deleted_calls where id::text = any(${callIds}::text[])`.execute(db.query);
  const known = new Map(read.rows.map(({ id, state }) => [id, state]));
  return new Map(callIds.map((callId) => [callId, known.get(callId) ?? "waits"]));
}

/** From now on any node may remove it. False: its call was deleted meanwhile, or its recording must not be retained. */
export async function markRecordingShared(db: Db, callId: string): Promise<boolean> {
  const updated = await sql`
    update calls set recording_is_shared = true where id = ${callId} and not recording_erased`.execute(
    db.query,
  );
  return updated.numAffectedRows === 1n;
}
