/** Where OpenTelemetry traces are sent: settings of the environment. */

import { z } from "zod";
import { httpUrl, readBy } from "./env-fields.ts";

/** A collector of OpenTelemetry traces, by OTLP over HTTP. */
export interface TraceTarget {
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const TRACE_FIELDS = {
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: readBy(readHeaders).optional(),
};

const Fields = z.object(TRACE_FIELDS);

/** Null: no traces are sent. */
export function traceTargetOf(values: z.infer<typeof Fields>): TraceTarget | null {
  const endpoint = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  return endpoint === undefined ? null : { endpoint, headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {} };
}

/** Values of headers are percent-encoded, as the OpenTelemetry specification requires. */
function readHeaders(text: string): Readonly<Record<string, string>> {
  if (!/^\s*[\w-]+\s*=[^,]*(,\s*[\w-]+\s*=[^,]*)*$/.test(text)) {
    throw new Error("must be a list such as name=value,other=value");
  }
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      return [name.trim(), decoded(rest.join("=").trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("must contain percent-encoded values");
  }
}
