import type { z } from "zod";
import { ApiError } from "../errors.ts";
import { parseBody, type ParseOptions } from "../parse-body.ts";

/** What `parseBody` says of a body, as `field: message`; empty when it is taken. */
export function problemsOf(schema: z.ZodType, body: unknown, options: ParseOptions = {}): string[] {
  try {
    parseBody(schema, body, options);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error.errors.map(({ field, message }) => `${field}: ${message}`);
  }
}

/** A body and what is wrong with it. */
export type Row = readonly [title: string, body: unknown, problems: readonly string[]];
