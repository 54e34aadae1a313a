/** The types by which a call that the service dials is dialled, as a part of its creation. */

import type { CallMedium } from "@parley/schema";
import type { Consultation, NotCreated } from "../api.ts";

/** A call that exists and waits for its join. */
export interface CallToDial {
  readonly callId: string;
  /** Of the stream that the carrier opens. */
  readonly joinToken: string;
  readonly joinTimeoutMs: number;
  readonly maxDurationMs: number;
  /** Set where the called person is to take over the caller of another call. */
  readonly consultation?: Consultation | undefined;
}

/** A dial whose configuration and number were checked. Call `admit`, then either `abandon` or `place`, once each. */
export interface Dial {
  /** Counts the call against the limits of the day, and stores the intent to dial. Null: admitted. */
  readonly admit: (callId: string) => Promise<NotCreated | null>;
  /** The call was not created: nobody is dialled. Never rejects. */
  readonly abandon: (callId: string) => Promise<void>;
  /**
   * Asks the carrier once. Null: it dials, or may dial, so the call must go on. Otherwise nobody was dialled. Never
   * rejects.
   */
  readonly place: (call: CallToDial) => Promise<NotCreated | null>;
}

/** `field`: the path of the medium in the request. Null: the service does not dial over this medium. */
export type PrepareDial = (
  accountId: string,
  medium: CallMedium,
  field: string,
) => Promise<Dial | NotCreated | null>;
