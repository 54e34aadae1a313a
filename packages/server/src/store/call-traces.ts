/**
 * What else of a call is in the database: rows that hold something of it and do not go with its row by themselves, as
 * those do that refer to `calls` with `on delete cascade`.
 */

import type { RawBuilder } from "kysely";
import type { Db } from "./db.ts";
import { forgetAnswersAbout } from "./kept-answers.ts";
import { CALL_IS_BEING_TOLD, dropDeliveriesOf } from "./webhook-deliveries.ts";

export interface CallTraces {
  /** Removes them; part of the transaction that deletes the call. Nothing there is fine. */
  readonly erase: (tx: Db, accountId: string, callId: string) => Promise<void>;
  /**
   * A condition on `calls`: something of the call is still under way, so that its deletion by its own retention policy
   * waits. Absent: it never waits for these.
   */
  readonly underWay?: RawBuilder<unknown>;
}

/** Each kind once; the part of the store that writes them says how they are erased. */
export const CALL_TRACES: readonly CallTraces[] = [
  // First answers to requests that created the call: they hold it as it was then.
  { erase: forgetAnswersAbout },
  // What webhooks are still to be told of it; of what they were told only the fact stays.
  { erase: dropDeliveriesOf, underWay: CALL_IS_BEING_TOLD },
];
