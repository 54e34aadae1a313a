/**
 * Port for traces: a tree of spans for each call. Nothing here throws or waits, and what is lost on the way to a
 * collector is lost. Spans contain nothing that was said, no prompts and no secrets.
 */

import type { TraceParent } from "./trace-parent.ts";

/** Names as in the semantic conventions of OpenTelemetry, or below `parley.`. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** client: it waits for another process. */
  readonly kind: "internal" | "client";
  /** Wall clock, ms since 1970, like all times here. */
  readonly startMs: number;
  readonly attributes: SpanAttributes;
}

export interface Span {
  child(start: SpanStart): Span;
  set(attributes: SpanAttributes): void;
  /** In place of the name that it began with. */
  rename(name: string): void;
  /** Something that happened at one moment. */
  note(name: string, atMs: number, attributes?: SpanAttributes): void;
  /**
   * Only ended spans are sent, each by itself: a child may be sent hours before its parent, or end after it.
   * `errorType`: the kind of the failure (the attribute `error.type`); null: it did not fail. Nothing follows it.
   */
  end(endMs: number, errorType: string | null): void;
}

export interface Traces {
  /**
   * The first span of a call. Its trace has the id of the call without hyphens, or is that of `parent`. Null: the trace
   * of `parent` is not recorded.
   */
  startCall(callId: string, parent: TraceParent | null, start: SpanStart): Span | null;
  /** Sends what has ended, within a limited time. Idempotent. */
  close(): Promise<void>;
}
