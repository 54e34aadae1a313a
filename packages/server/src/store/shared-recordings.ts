/** Recordings that a node brings to the store which all nodes share, as far as the database knows of them. */

import { sql } from "kysely";
import type { Db } from "./db.ts";

/**
 * `ready`: its call is over. `erased`: it is not to be kept, its call was deleted or is too old. `waits`: its call goes on, or the
 * database does not know of it, as one that was restored may not.
 */
export type FinishedRecording = "ready" | "erased" | "waits";

/** Of calls of any account, for it is the node that has their files. */
export async function stateOfRecordings(
  db: Db,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, FinishedRecording>> {
  const read = await sql<{ id: string; state: FinishedRecording }>`
    select id::text as id, case when recording_erased then 'erased' when ended_at is not null then 'ready'
      else 'waits' end as state
    from calls where id::text = any(${callIds}::text[])
    union all
    select id::text, 'erased' from deleted_calls where id::text = any(${callIds}::text[])`.execute(db.query);
  const known = new Map(read.rows.map(({ id, state }) => [id, state]));
  return new Map(callIds.map((callId) => [callId, known.get(callId) ?? "waits"]));
}

/** From now on any node may remove it. False: its call was deleted meanwhile, or its recording is not to be kept. */
export async function recordingIsShared(db: Db, callId: string): Promise<boolean> {
  const updated = await sql`
    update calls set recording_is_shared = true where id = ${callId} and not recording_erased`.execute(
    db.query,
  );
  return updated.numAffectedRows === 1n;
}
