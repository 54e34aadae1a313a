/** Fake traces that hold what has ended, for tests. */

import type { Span, SpanAttributes, SpanStart, Traces } from "../traces.ts";

export interface EndedSpan extends SpanStart {
  readonly traceId: string;
  readonly spanId: string;
  /** Null: it has no parent. */
  readonly parentId: string | null;
  readonly endMs: number;
  readonly notes: readonly {
    readonly name: string;
    readonly atMs: number;
    readonly attributes: SpanAttributes;
  }[];
  /** Null: it did not fail. */
  readonly errorType: string | null;
}

export interface FakeTraces extends Traces {
  /** In the order of their ends. */
  readonly ended: readonly EndedSpan[];
  /** Spans that were started and have not ended. */
  readonly open: () => number;
}

export function openFakeTraces(): FakeTraces {
  const ended: EndedSpan[] = [];
  let count = 0;
  const start = (traceId: string, parentId: string | null, given: SpanStart): Span => {
    count += 1;
    const spanId = count.toString(16).padStart(16, "0");
    const notes: { name: string; atMs: number; attributes: SpanAttributes }[] = [];
    let { attributes, name: current } = given;
    let isOver = false;
    return {
      child: (next) => start(traceId, spanId, next),
      set(more) {
        attributes = { ...attributes, ...more };
      },
      rename: (name) => void (current = name),
      note: (name, atMs, more = {}) => void notes.push({ name, atMs, attributes: more }),
      end(endMs, errorType) {
        if (isOver) return;
        isOver = true;
        ended.push({
          ...given,
          name: current,
          traceId,
          spanId,
          parentId,
          endMs,
          notes,
          attributes,
          errorType,
        });
      },
    };
  };
  return {
    ended,
    open: () => count - ended.length,
    startCall(callId, parent, given) {
      if (parent?.isSampled === false) return null;
      return start(parent?.traceId ?? callId.replaceAll("-", ""), parent?.spanId ?? null, given);
    },
    close: () => Promise.resolve(),
  };
}
