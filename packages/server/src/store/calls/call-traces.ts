/** Rows that contain data of a call and are not deleted with it by `on delete cascade`. */

import type { RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import { eraseAnswersAbout } from "../accounts/idempotent-answers.ts";
import { eraseConsultationsOf } from "./consultations.ts";
import { eraseTransfersOf } from "../telephony/call-transfers.ts";
import { eraseDialOf } from "../telephony/carrier-dials.ts";
import { HAS_PENDING_DELIVERIES, eraseDeliveriesOf } from "../webhooks/webhook-deliveries.ts";

export interface CallTraces {
  /** Erases them, within the transaction that deletes the call. There may be none. */
  readonly erase: (tx: Db, accountId: string, callId: string) => Promise<void>;
  /**
   * A condition on `calls`: something is still under way, so its deletion by the retention policy waits. Absent: it
   * never waits for these.
   */
  readonly underWay?: RawBuilder<unknown>;
}

/** Each is erased by the part of the store that writes it. */
export const CALL_TRACES: readonly CallTraces[] = [
  // Stored answers to requests that created the call: they contain the call.
  { erase: eraseAnswersAbout },
  // Deliveries of webhooks: pending ones are deleted, finished ones lose their content.
  { erase: eraseDeliveriesOf, underWay: HAS_PENDING_DELIVERIES },
  // The dial of the call: it counts for the limits of the day, but without its number.
  { erase: eraseDialOf },
  // The same of the dials of its transfers.
  { erase: eraseTransfersOf },
  // Its words in the instructions of the conversations with people who were to take it over.
  { erase: eraseConsultationsOf },
];
