/** The columns that a call is shown from, as select lists. */

import { sql } from "kysely";
import { SHOWN_CALL_COLUMNS } from "./tables/calls.ts";

/** Of a table that is named `calls`, such as the rows that a statement has just changed. */
export const ownCallColumns = sql.join(SHOWN_CALL_COLUMNS.map((column) => sql.ref(`calls.${column}`)));

/** `CallColumns`, for a `from` clause of `calls` left-joined with `agents`. */
export const callColumns = sql`${ownCallColumns}, agents.name as agent_name,
  (select first_words from call_texts where call_id = calls.id) as first_words,
  (select median_reply_ms from call_texts where call_id = calls.id) as median_reply_ms`;
