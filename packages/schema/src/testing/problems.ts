import type { z } from "zod";
import { ApiError } from "../values/errors.ts";
import { parseBody, type ParseOptions } from "../values/parse-body.ts";

/** The problems that `parseBody` reports for a body, as `field: message`; empty when it is accepted. */
export function problemsOf(schema: z.ZodType, body: unknown, options: ParseOptions = {}): string[] {
  try {
    parseBody(schema, body, options);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.errors.map(({ field, message }) => `${field}: ${message}`);
  }
}

/** A body and its expected problems. */
export type Row = readonly [title: string, body: unknown, problems: readonly string[]];
