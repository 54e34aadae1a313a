/** The events of a call: the last of them in memory for the report of a fault, all of them stored where that is wanted. */

import type { CallState } from "../../call/call.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import { EventChunkWriter, type EventChunk, type EventLogTotals } from "./event-chunks.ts";
import { EventLogger, type EventLog } from "./event-log.ts";

export class CallLog {
  readonly #latest: EventLogger<CallState>;
  readonly #chunks: EventChunkWriter | null;

  /**
   * @param write null: no logs are stored
   * @param before what another process has stored of the same call
   */
  constructor(first: CallState, write: ((chunk: EventChunk) => void) | null, before?: EventLogTotals) {
    this.#latest = new EventLogger(first);
    this.#chunks = write === null ? null : new EventChunkWriter(write, undefined, before);
  }

  add(before: CallState, event: CallEngineEvent): void {
    this.#latest.add(before, event);
    this.#chunks?.add(event);
  }

  /** The latest events. */
  read(): EventLog {
    return this.#latest.read();
  }

  /** Writes what is left, and returns what was stored; null: nothing is. No event is accepted after it. Idempotent. */
  finish(): EventLogTotals | null {
    return this.#chunks?.finish() ?? null;
  }
}
