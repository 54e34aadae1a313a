/** The columns that a call is shown from, as select lists. */

import { sql } from "kysely";
import { SHOWN_CALL_COLUMNS } from "./tables/calls.ts";

/** Of a table that is named `calls`, such as the rows that a statement has just changed. */
export const ownCallColumns = sql.join(SHOWN_CALL_COLUMNS.map((column) => sql.ref(`calls.${column}`)));

/** The condition of the index `call_events_faults`: an event of severity error, or a failed engine. */
const isFault = sql`(severity >= 3 or type in ('stt.failed', 'llm.failed', 'tts.failed'))`;

/** `CallColumns`, for a `from` clause of `calls` left-joined with `agents`. */
export const callColumns = sql`${ownCallColumns}, agents.name as agent_name,
  exists (select 1 from call_events where call_events.call_id = calls.id and ${isFault}) as has_errors`;
