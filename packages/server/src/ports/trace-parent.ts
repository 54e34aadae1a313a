/** The header `traceparent` (W3C Trace Context), which says of which trace a request is a part. */

export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** False: the sender does not record this trace. */
  readonly isSampled: boolean;
}

const PARTS = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 0x01;

/** Longer than any header of today. Later versions may add parts. */
export const TRACE_PARENT_MAX_CHARS = 255;

/** Null: there is none, or it is not valid. A request with a wrong header is served as one without it. */
export function readTraceParent(header: unknown): TraceParent | null {
  if (typeof header !== "string" || header.length > TRACE_PARENT_MAX_CHARS) return null;
  const [, version, traceId = "", spanId = "", flags = "", more] = PARTS.exec(header) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) !== 0 };
}
