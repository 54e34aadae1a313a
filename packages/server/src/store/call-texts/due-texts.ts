/** Which calls the index of transcripts still lacks. */

import { sql, type RawBuilder } from "kysely";

/** A statement for `with`: notes calls that have just ended. `ended` is a table with `ownCallColumns`. */
export function noteEndedTexts(ended: string): RawBuilder<unknown> {
  // A call that nobody joined has no words.
  return sql`insert into call_texts_due (call_id, ended_at)
    select id, ended_at from ${sql.table(ended)} as ended where joined_at is not null`;
}

/**
 * The same for a message that arrives after the end of its call, such as from the journal of a lost node. Its rows: the
 * call, where it has ended.
 */
export function noteLateText(callId: string): RawBuilder<unknown> {
  return sql`insert into call_texts_due (call_id, ended_at)
    select id, ended_at from calls where id = ${callId}::uuid and ended_at is not null
    on conflict (call_id) do update set ended_at = excluded.ended_at returning call_id`;
}
