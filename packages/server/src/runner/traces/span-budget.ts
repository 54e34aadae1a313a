/** Starts the spans below that of a call, up to a limit. */

import type { Span, SpanStart } from "../../ports/traces.ts";

/**
 * Limit of spans below that of one call. A turn has about eight, so this is a conversation of several hours; a collector
 * that shows more in one trace is rare.
 */
export const SPANS_PER_CALL_MAX = 10_000;

export class SpanBudget {
  readonly #limit: number;
  #begun = 0;
  /** Requests that have no span because the limit was reached. */
  dropped = 0;

  constructor(limit = SPANS_PER_CALL_MAX) {
    this.#limit = limit;
  }

  /** Null: there is no parent, or the limit is reached. */
  begin(parent: Span | null, start: SpanStart): Span | null {
    if (parent === null || this.#begun >= this.#limit) return null;
    this.#begun += 1;
    return parent.child(start);
  }
}
