/**
 * Batches all events of a call into chunks, for replay, so that a long call costs no more memory than a short one. When
 * a call passes the limit, the beginning is kept, because a log can only be replayed from there.
 */

import type { CallEngineEvent } from "../../call/events.ts";
import { eventTextLength } from "./event-log.ts";

/** About a minute of a call; written at once, some 10 KB when compressed. */
const CHUNK_EVENTS = 2_048;
/**
 * Characters of texts in one chunk, unless one event has more: a few million of a new stage at most. A character is at
 * most six bytes of a line, so a chunk stays far below the 64 MB up to which the store reads it.
 */
const CHUNK_CHARS = 1_000_000;
/** Events of one call: eight hours at 32 a second, some 6 MB when compressed. */
const CALL_EVENTS = 1_000_000;
/** Characters of texts of one call. */
const CALL_CHARS = 20_000_000;

export interface EventChunk {
  /** From 0, without gaps. */
  readonly index: number;
  readonly events: readonly CallEngineEvent[];
  /** What the reader must know after the events; null: nothing. */
  readonly note: string | null;
}

/** Totals that a reader of the whole log must find. */
export interface EventLogTotals {
  readonly chunks: number;
  readonly events: number;
}

export interface EventChunkLimits {
  readonly chunkEvents: number;
  readonly callEvents: number;
}

export class EventChunkWriter {
  readonly #write: (chunk: EventChunk) => void;
  readonly #limits: EventChunkLimits;
  #events: CallEngineEvent[] = [];
  #chars = 0;
  #index = 0;
  #callEvents = 0;
  #callChars = 0;
  #over = false;

  /** @param before what another process has stored of the same call */
  constructor(
    write: (chunk: EventChunk) => void,
    limits: EventChunkLimits = { chunkEvents: CHUNK_EVENTS, callEvents: CALL_EVENTS },
    before: EventLogTotals = { chunks: 0, events: 0 },
  ) {
    this.#index = before.chunks;
    this.#callEvents = before.events;
    this.#write = write;
    this.#limits = limits;
  }

  add(event: CallEngineEvent): void {
    if (this.#over) return;
    const chars = eventTextLength(event);
    if (this.#callEvents >= this.#limits.callEvents || this.#callChars + chars > CALL_CHARS) {
      this.#over = true;
      this.#flush(`the log ends here: a call keeps ${String(this.#callEvents)} events`);
      return;
    }
    if (this.#events.length >= this.#limits.chunkEvents || this.#chars + chars > CHUNK_CHARS)
      this.#flush(null);
    this.#events.push(event);
    this.#chars += chars;
    this.#callEvents += 1;
    this.#callChars += chars;
  }

  /** Writes the last chunk and returns the totals. No event is accepted after it. Idempotent. */
  finish(): EventLogTotals {
    if (!this.#over && this.#events.length > 0) this.#flush(null);
    this.#over = true;
    return { chunks: this.#index, events: this.#callEvents };
  }

  #flush(note: string | null): void {
    const events = this.#events;
    this.#events = [];
    this.#chars = 0;
    this.#write({ index: this.#index, events, note });
    this.#index += 1;
  }
}
